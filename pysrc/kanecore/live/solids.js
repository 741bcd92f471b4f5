// SPDX-License-Identifier: BSD-3-Clause
// Shapes as solids: meshes of few faces about z, those that look at the reader, the farthest first, lit from above left.

const ROUND = 24, RINGS = 6;   // faces around an axis, and from pole to pole: at most 168 a shape
const THIN = 0.06;             // thickness of a disc, relative to its radius
const TONES = ["#8fabdc", "#e2b673", "#96c3a0"], STILL = "#b4b4b4";  // of bodies in turn, of the ground
const MARK = 0.6, EDGE = 0.78; // brightness of marks and of edges, relative to their face
const ORDERS = {x: [2, 0, 1], y: [1, 2, 0], z: [0, 1, 2]};
const MESHES = {
    Box: box, Capsule: capsule, Cylinder: cylinder, Disc: r => cylinder(r, THIN * r), Ellipsoid: ellipsoid,
    Sphere: r => ellipsoid(r, r, r),
};

const upTo = n => Array.from({length: n}, (_, i) => i);
const circle = (r, z) => upTo(ROUND).map(i => {
    const angle = 2 * Math.PI * i / ROUND;
    return [r * Math.cos(angle), r * Math.sin(angle), z];
});
// Between ring k and the next one of n rings, for points that are listed ring by ring.
const belt = k => upTo(ROUND).map(i => [i, (i + 1) % ROUND].map(j => ROUND * k + j)).map(([a, b]) => [a, b, b + ROUND, a + ROUND]);

// A face is a list of its points, counterclockwise from outside.
function box(a, b, c) {
    const points = upTo(8).map(i => [i & 1 ? a : -a, i & 2 ? b : -b, i & 4 ? c : -c].map(v => v / 2));
    return {points, faces: [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]], marked: []};
}

// Ends in quarters; two of them are marked on a wheel, so that its turning is seen.
function cylinder(r, length) {
    const points = [...circle(r, -length / 2), ...circle(r, length / 2), [0, 0, -length / 2], [0, 0, length / 2]];
    const quarters = upTo(4).map(k => upTo(ROUND / 4 + 1).map(i => (k * ROUND / 4 + i) % ROUND));
    const ends = quarters.flatMap(arc => [[2 * ROUND, ...[...arc].reverse()], [2 * ROUND + 1, ...arc.map(i => ROUND + i)]]);
    return {points, faces: [...ends, ...belt(0)], marked: length < r ? [0, 1, 4, 5] : []};
}

// Two halves of a sphere, whose equators are apart.
function capsule(r, length) {
    const half = upTo(RINGS / 2 + 1).map(k => Math.PI * k / RINGS), arc = [...half, ...half.map(a => a + Math.PI / 2)];
    const rings = arc.map((a, k) => circle(r * Math.sin(a), (k < half.length ? -length : length) / 2 - r * Math.cos(a)));
    return {points: rings.flat(), faces: upTo(RINGS + 1).flatMap(belt), marked: []};
}

function ellipsoid(a, b, c) {
    const rings = upTo(RINGS + 1).map(k => Math.PI * k / RINGS).map(v => circle(Math.sin(v), -Math.cos(v)));
    return {points: rings.flat().map(([x, y, z]) => [a * x, b * y, c * z]), faces: upTo(RINGS).flatMap(belt), marked: []};
}

// The mesh of a shape in the axes of its body; `sizes` are numbers.
function meshOf(kind, sizes, axis, place) {
    const {points, faces, marked} = MESHES[kind](...sizes), order = ORDERS[axis];
    const turned = points.map(v => order.map(i => v[i]));
    const rows = [0, 3, 6].map(i => place.slice(i, i + 3));
    return {points: place.length ? turned.map(v => rows.map((row, i) => dot(row, v) + place[9 + i])) : turned, faces, marked};
}

const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = v => v.map(x => x / (Math.hypot(...v) || 1));
const minus = (a, b) => a.map((v, i) => v - b[i]);

function lit(colour, brightness) {
    const parts = [1, 3, 5].map(i => Math.min(255, Math.round(brightness * parseInt(colour.slice(i, i + 2), 16))));
    return `rgb(${parts})`;
}

class Solids {
    // `rows`: the body, kind, sizes (numbers, or names of parameters), axis and place of each shape; `value`: of a parameter.
    constructor(rows, value) {
        this.solids = rows.map(([body, kind, sizes, axis, place]) => ({body, kind, sizes, axis, place, key: ""}));
        this.value = value;
    }

    has(kind) { return kind in MESHES; }

    // All faces: points in space, normal, colour, brightness.
    faces(scene, state) {
        const found = [];
        for (const solid of this.solids) {
            const {body, kind, axis, place} = solid, sizes = solid.sizes.map(s => typeof s === "string" ? this.value(s) : s);
            if (solid.key !== String(sizes)) Object.assign(solid, {key: String(sizes), mesh: meshOf(kind, sizes, axis, place)});
            const {points, faces, marked} = solid.mesh, tone = body < 0 ? STILL : TONES[body % TONES.length];
            const start = body >= 0 && state.place(scene.centres[body]), matrix = body >= 0 && state.axes(body);
            const placed = body < 0 ? points : points.map(v => along(start, matrix, v));
            faces.forEach((face, i) => {
                const corners = face.map(k => placed[k]);
                const n = unit(cross(minus(corners[2], corners[0]), minus(corners.at(-1), corners[1])));  // diagonals
                found.push({corners, n, tone, share: marked.includes(i) ? MARK : 1});
            });
        }
        return found;
    }

    draw(picture) {
        const {pen, scene} = picture, [right, up] = picture.basis(), toward = cross(right, up);
        const depth = corners => corners.reduce((sum, v) => sum + dot(v, toward), 0) / corners.length;
        const path = corners => {
            corners.map(picture.seen).forEach(([x, y], i) => i ? pen.lineTo(x, y) : pen.moveTo(x, y));
            pen.closePath();
        };
        const all = this.faces(scene, picture.state);
        if (Number.isFinite(scene.ground) && !scene.basis) this.shadow(picture, all, path);
        const light = unit(toward.map((v, i) => 0.75 * v + 0.6 * up[i] - 0.35 * right[i]));
        pen.lineWidth = 0.7;
        const shown = all.filter(({n}) => dot(n, toward) > 0).map(face => ({...face, depth: depth(face.corners)}));
        for (const {corners, n, tone, share} of shown.sort((a, b) => a.depth - b.depth)) {
            const brightness = share * (0.6 + 0.45 * Math.max(0, dot(n, light)));
            pen.beginPath();
            path(corners);
            pen.fillStyle = lit(tone, brightness);
            pen.fill();
            pen.strokeStyle = lit(tone, EDGE * brightness);
            pen.stroke();
        }
    }

    // Under a light straight above, on the ground: one area, evenly dark.
    shadow({pen, scene, colours}, faces, path) {
        const {vertical, sign, ground} = scene;
        pen.beginPath();
        for (const {corners, n} of faces) {
            if (sign * n[vertical] > 0) path(corners.map(v => v.map((x, i) => i === vertical ? sign * ground : x)));
        }
        pen.globalAlpha = 0.2;
        pen.fillStyle = colours.ground;
        pen.fill();
        pen.globalAlpha = 1;
    }
}
