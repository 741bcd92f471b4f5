// SPDX-License-Identifier: BSD-3-Clause
// The picture of a mechanism in a canvas, of animations and of live pages.

const LIGHT = {body: "#4c72b0", shape: "#8aa4cf", centre: "#c44e52", ground: "#404040", inside: "#fff"};
const TRIAD = ["#c0392b", "#27ae60", "#2c6fbb"], TRACES = ["#dd8452", "#55a868", "#8172b3", "#937860", "#da8bc3"];
const FORCE = "#dd8452", STRUCK = "#c0392b";  // of contacts
const MANY = 150;  // lines of shapes, as of meshes: more of them are thin
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

// v in the axes of a body, the columns of the matrix, from a place.
const along = (start, matrix, v) =>
    [0, 1, 2].map(i => start[i] + matrix[3 * i] * v[0] + matrix[3 * i + 1] * v[1] + matrix[3 * i + 2] * v[2]);

class Picture {
    // `scene`: what is drawn (movies.py, drawn()), between `low` and `high`, and the `radius` of all about their middle.
    // `state`: functions place(number) and axes(body) of what is shown now, path(i) of trace i, and shapes(), each the
    // body, -1 for the ground, points in its axes from its mass centre, and its kind.  Live pages have `solids`, which
    // draws those that are more than lines.  Films of rigid contacts have contacts(): the place of each, a line
    // on its plane, its force as an arrow of the picture, its colour, and whether it is open or was just struck.
    constructor(canvas, scene, state) {
        Object.assign(this, {canvas, scene, state, colours: LIGHT, zoom: 1});
        this.pen = canvas.getContext("2d");
        [this.elevation, this.azimuth] = scene.angles;
    }

    // What goes to the right and up: fixed in a plane, turned by the mouse in space.
    basis() {
        const {basis, sign, vertical} = this.scene;
        if (basis) return basis;
        const [e, a] = [sign * this.elevation, this.azimuth].map(degrees => degrees * Math.PI / 180);
        const right = [-Math.sin(a), Math.cos(a), 0];
        const up = [-Math.sin(e) * Math.cos(a), -Math.sin(e) * Math.sin(a), Math.cos(e)];
        return [right, up].map(v => v.map((_, i) => sign * v[(i + 5 - vertical) % 3]));
    }

    turn(across, down) {
        this.azimuth -= 0.5 * this.scene.sign * across;
        this.elevation = Math.max(-90, Math.min(90, this.elevation + 0.5 * down));
    }

    // Turned or not, all states stay in sight: space is fitted by a ball, a plane by a rectangle.
    fit(width, height) {
        const {low, high, radius, basis} = this.scene, [right, up] = this.basis();
        const middle = low.map((v, i) => (v + high[i]) / 2), half = low.map((v, i) => (high[i] - v) / 2);
        const reach = axis => basis ? half.reduce((sum, h, i) => sum + h * Math.abs(axis[i]), 0) : radius;
        const least = 0.15 * radius || 1;
        const widths = width / Math.max(reach(right), least), heights = height / Math.max(reach(up), least);
        this.scale = 0.42 * this.zoom * Math.min(widths, heights);
        this.seen = p => {
            const v = p.map((x, i) => x - middle[i]);
            return [width / 2 + this.scale * dot(v, right), height / 2 - this.scale * dot(v, up)];
        };
    }

    line(points, colour, width) {
        const pen = this.pen;
        pen.strokeStyle = colour;
        pen.lineWidth = width;
        pen.beginPath();
        points.forEach(([x, y], i) => i ? pen.lineTo(x, y) : pen.moveTo(x, y));
        pen.stroke();
    }

    // A round bar, with a light along it.
    rod(points, width) {
        this.line(points, this.colours.body, width);
        this.pen.globalAlpha = 0.3;
        this.line(points.map(([x, y]) => [x - width / 8, y - width / 8]), "#fff", width / 3);
        this.pen.globalAlpha = 1;
    }

    dot([x, y], radius, fill, edge) {
        const pen = this.pen;
        pen.beginPath();
        pen.arc(x, y, radius, 0, 2 * Math.PI);
        pen.fillStyle = fill;
        pen.fill();
        pen.strokeStyle = edge;
        pen.lineWidth = 1.5;
        pen.stroke();
    }

    draw() {
        const {canvas, pen, scene, state, colours} = this;
        const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
        canvas.width = ratio * width;
        canvas.height = ratio * height;
        pen.setTransform(ratio, 0, 0, ratio, 0, 0);
        pen.lineCap = pen.lineJoin = "round";
        pen.font = "11px system-ui, sans-serif";
        this.fit(width, height);
        if (Number.isFinite(scene.ground)) this.ground(width, height);
        const here = number => this.seen(state.place(number));
        scene.traces.forEach((_, i) => this.line(state.path(i).map(this.seen), TRACES[i % TRACES.length], 1.2));
        const shapes = state.shapes();
        state.solids?.draw(this);
        const thick = Math.max(3, Math.min(9, 0.016 * this.zoom * Math.min(width, height) / (1 + scene.lines.length / 40)));
        for (const [body, points, kind] of shapes) {
            if (state.solids?.has(kind)) continue;
            const moves = body >= 0, start = moves && state.place(scene.centres[body]), matrix = moves && state.axes(body);
            const drawn = points.map(v => this.seen(moves ? along(start, matrix, v) : v));
            if (kind === "Rod") this.rod(drawn, thick);
            else this.line(drawn, colours.shape, shapes.length > MANY ? 0.6 : 1.2);
        }
        for (const [a, b] of scene.lines) this.rod([here(a), here(b)], thick);
        for (const body of scene.rigid) this.triad(body);
        const [x, y] = here(0);
        this.line([[x, y], [x - 6, y + 10], [x + 6, y + 10], [x, y]], colours.ground, 2);
        const small = Math.min(1, thick / 4.5);
        for (const number of scene.joints) this.dot(here(number), 3 * small, colours.inside, colours.body);
        for (const number of scene.centres) this.dot(here(number), 3.5 * small, colours.centre, colours.centre);
        for (const contact of state.contacts?.() ?? []) this.contact(contact);
        pen.fillStyle = colours.ground;
        pen.strokeStyle = colours.inside;
        pen.lineWidth = 3;
        for (const {name, left, top} of this.names(here, width)) {
            pen.strokeText(name, left, top);
            pen.fillText(name, left, top);
        }
        this.corner(height);
    }

    // The ground at a height: a line with hatches that stay in place in a plane, a grid about the middle in space.
    ground(width, height) {
        const {pen, scene, colours} = this, {ground, low, high, radius, vertical, sign} = scene, [, up] = this.basis();
        const step = 10 ** Math.round(Math.log10(radius / 2));
        pen.fillStyle = pen.strokeStyle = colours.ground;
        if (scene.basis) {
            const y = this.seen(up.map(v => ground * v))[1];
            pen.globalAlpha = 0.1;
            pen.fillRect(0, y, width, Math.max(0, height - y));
            pen.globalAlpha = 0.5;
            const gap = this.scale * step / 4, first = this.seen([0, 0, 0])[0] % gap;
            for (let x = first; x < width + 9; x += gap) this.line([[x, y], [x - 9, y + 9]], colours.ground, 1);
            pen.globalAlpha = 1;
            this.line([[0, y], [width, y]], colours.ground, 1.5);
            return;
        }
        const n = Math.ceil(1.5 * radius / step);
        const sides = [0, 1, 2].filter(i => i !== vertical);
        const middle = sides.map(i => step * Math.round((low[i] + high[i]) / 2 / step));
        const at = (a, b) => {
            const place = [0, 0, 0];
            place[vertical] = sign * ground;
            sides.forEach((side, k) => { place[side] = middle[k] + step * [a, b][k]; });
            return this.seen(place);
        };
        pen.globalAlpha = 0.2;
        for (let i = -n; i <= n; i++) {
            this.line([at(i, -n), at(i, n)], colours.ground, 1);
            this.line([at(-n, i), at(n, i)], colours.ground, 1);
        }
        pen.globalAlpha = 1;
    }

    contact({place, plane, arrow, colour, open, struck}) {
        this.line(plane.map(this.seen), this.colours.ground, 1);
        const [x, y] = this.seen(place), [tx, ty] = this.seen(place.map((v, i) => v + arrow[i]));
        const dx = tx - x, dy = ty - y, length = Math.hypot(dx, dy);
        if (length > 2) {
            const head = Math.min(10, 0.4 * length) / length, [bx, by] = [tx - head * dx, ty - head * dy];
            this.line([[x, y], [tx, ty]], FORCE, 2.5);
            this.line([[bx - head * dy / 2, by + head * dx / 2], [tx, ty], [bx + head * dy / 2, by - head * dx / 2]], FORCE, 2.5);
        }
        this.dot([x, y], 5, open ? this.colours.inside : colour, this.colours.ground);
        if (!struck) return;
        this.pen.beginPath();
        this.pen.arc(x, y, 11, 0, 2 * Math.PI);
        this.pen.strokeStyle = STRUCK;
        this.pen.lineWidth = 2.5;
        this.pen.stroke();
    }

    // The axes x, y, z of a body at its mass centre.
    triad(body) {
        const start = this.state.place(this.scene.centres[body]), matrix = this.state.axes(body);
        TRIAD.forEach((colour, i) => {
            const v = [0, 0, 0];
            v[i] = this.scene.axis;
            this.line([this.seen(start), this.seen(along(start, matrix, v))], colour, 1.5);
        });
    }

    // Each name once, on the first side of its place where no other is; those without such a side are left out.
    names(here, width) {
        const taken = [];
        for (const [number, name] of this.scene.labels) {
            const [x, y] = here(number), wide = this.pen.measureText(name).width;
            const sides = [[x + 7, y - 5], [x - 7 - wide, y - 5], [x + 7, y + 13], [x - 7 - wide, y + 13]];
            const free = sides.find(([left, top]) => left >= 0 && left + wide <= width && !taken.some(other =>
                Math.abs(other.top - top) < 12 && left < other.left + other.wide && other.left < left + wide));
            if (free && !taken.some(other => other.name === name)) taken.push({name, left: free[0], top: free[1], wide});
        }
        return taken;
    }

    // The directions of x, y, z.
    corner(height) {
        const [right, up] = this.basis();
        ["x", "y", "z"].forEach((name, i) => {
            const [dx, dy] = [24 * right[i], -24 * up[i]];
            if (Math.hypot(dx, dy) < 1) return;
            this.line([[36, height - 36], [36 + dx, height - 36 + dy]], TRIAD[i], 1.5);
            this.pen.fillStyle = TRIAD[i];
            this.pen.fillText(name, 33 + 1.35 * dx, height - 33 + 1.35 * dy);
        });
    }
}
