// SPDX-License-Identifier: BSD-3-Clause
// Hands on the picture: take a body, turn, zoom.

const NEAR = 16;             // pixels, to take something
const RATIO = 0.5;           // of the damping of what is pulled
const DRAGS = 12;            // steps towards the pointer, each time that it moves

class Hands {
    constructor({canvas, picture, motion, model, isRunning, speed, changed}) {
        Object.assign(this, {canvas, picture, motion, model, isRunning, speed, changed, pointers: new Map()});
        canvas.addEventListener("pointerdown", event => this.down(event));
        canvas.addEventListener("pointermove", event => this.move(event));
        for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, event => this.up(event));
        canvas.addEventListener("wheel", event => {
            event.preventDefault();
            this.zoom(Math.exp(-1e-3 * event.deltaY));
        }, {passive: false});
    }

    zoom(factor) {
        this.picture.zoom = Math.max(0.05, Math.min(50, this.picture.zoom * factor));
        this.changed();
    }

    at(event) {
        const {left, top} = this.canvas.getBoundingClientRect();
        return [event.clientX - left, event.clientY - top];
    }

    down(event) {
        this.canvas.setPointerCapture(event.pointerId);
        this.pointers.set(event.pointerId, this.at(event));
        if (this.pointers.size > 1 || event.button !== 0) {
            this.release();
            return;
        }
        const taken = this.motion.machine.hasForces && !event.shiftKey && this.nearest(this.at(event));
        if (taken) this.take(taken);
    }

    move(event) {
        const before = this.pointers.get(event.pointerId), now = this.at(event);
        if (!before) {
            this.canvas.style.cursor = this.nearest(now) ? "pointer" : "grab";
            return;
        }
        if (this.pointers.size === 2) {
            const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
            const apart = place => Math.hypot(place[0] - other[0], place[1] - other[1]);
            this.zoom(apart(now) / Math.max(1, apart(before)));
        } else if (this.held) this.draw(now);
        else if (!this.model.scene.basis) {
            this.picture.turn(now[0] - before[0], now[1] - before[1]);
            this.changed();
        }
        this.pointers.set(event.pointerId, now);
    }

    up(event) {
        this.pointers.delete(event.pointerId);
        this.release();
    }

    release() {
        if (!this.held) return;
        this.held = null;
        this.motion.machine.letGo();
        this.motion.settle();
        this.changed();
    }

    // The body that is nearest to a place in the picture, and where it is touched.
    nearest(at) {
        const {picture, model} = this, {scene} = model, state = picture.state;
        let best = null, distance = NEAR;
        const look = (place, body, bonus) => {
            const seen = picture.seen(place), away = Math.hypot(seen[0] - at[0], seen[1] - at[1]) - bonus;
            if (away < distance) [best, distance] = [{body, place}, away];
        };
        for (const [place, body] of scene.handles) look(state.place(place), body, 4);
        for (const [body, points] of state.shapes()) {
            if (body < 0) continue;
            const start = state.place(scene.centres[body]), matrix = state.axes(body);
            const placed = points.map(point => along(start, matrix, point));
            for (let i = 0; i + 1 < placed.length; i++) {
                const [a, b] = [placed[i], placed[i + 1]], [p, q] = [picture.seen(a), picture.seen(b)];
                const d = [q[0] - p[0], q[1] - p[1]], length = d[0] ** 2 + d[1] ** 2 || 1;
                const s = Math.max(0, Math.min(1, ((at[0] - p[0]) * d[0] + (at[1] - p[1]) * d[1]) / length));
                look(a.map((v, k) => v + s * (b[k] - v)), body, 0);
            }
        }
        return best;
    }

    take({body, place}) {
        const {machine} = this.motion, start = this.picture.state.place(this.model.scene.centres[body]);
        const matrix = this.picture.state.axes(body), arm = place.map((v, i) => v - start[i]);
        const local = [0, 1, 2].map(i => dot([matrix[i], matrix[3 + i], matrix[6 + i]], arm));
        const [point, frame] = this.model.scene.bodies[body];
        if (frame < 0 && Math.hypot(...local) > 1e-9) local.fill(0);  // a particle is taken where it is
        const frequency = 2 * Math.PI * this.model.pull / this.speed();
        if (machine.grab(point, frame, local, place, frequency, RATIO)) return;
        this.held = {body, local, target: place};
        this.drawn = false;
    }

    // Lead what is held to a place in the picture, in the plane of the picture through it.
    draw(at) {
        const {picture, motion, held} = this, [right, up] = picture.basis(), now = picture.seen(held.target);
        const [dx, dy] = [(at[0] - now[0]) / picture.scale, (now[1] - at[1]) / picture.scale];
        held.target = held.target.map((v, i) => v + dx * right[i] + dy * up[i]);
        motion.machine.drawTo(held.target);
        if (this.isRunning()) return;
        let trouble = 0;
        for (let i = 0; i < DRAGS && !trouble; i++) trouble = motion.machine.drag();
        motion.beginHere();
        this.changed();
    }

    // The spring from what is held to the pointer.
    show() {
        if (!this.held || !this.isRunning()) return;
        const {picture, held} = this, start = picture.state.place(this.model.scene.centres[held.body]);
        const end = along(start, picture.state.axes(held.body), held.local), hand = colour("--hand");
        picture.line([picture.seen(end), picture.seen(held.target)], hand, 2);
        picture.dot(picture.seen(held.target), 4, hand, hand);
    }
}
