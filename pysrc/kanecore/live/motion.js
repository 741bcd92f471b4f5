// SPDX-License-Identifier: BSD-3-Clause
// The motion of a page: its start, its steps, what is remembered of it, and how exact it is.

const REMEMBERED = 20000;  // samples, for CSV
const SHOWN = 900;         // pictures in plots and traces
const SMOOTH = 1e-3;       // of what a curve covers: chords leave it by less
const FINEST = 16;         // points of a curve in a picture
const PATIENCE = 12;       // milliseconds of a picture that go into steps
const LONGEST = 0.1;       // seconds: a longer pause, as of a hidden page, is no motion

class Motion {
    constructor(machine, model) {
        Object.assign(this, {machine, model, history: [], pictures: 0, trouble: ""});
        this.start = {time: model.start.time, state: [...model.start.state]};
        this.keysDown = new Map();
        machine.view("parameters").set(model.parameters.map(each => each.value));
        this.held = model.inputs.map(each => each.value);
        machine.time = this.start.time;
        machine.setMotions(model.motions);
        this.initialMotions();
        if (model.signals) machine.setSignals(model.signals);
        machine.setEvents(model.events);
        if (model.feedback) machine.setFeedback(model.feedback.gain, model.feedback.about);
        this.applyInputs();
        this.check(machine.prepare());
        this.restart();
    }

    // What a status means; true where all is well.
    check(status) {
        this.trouble = status ? STATUSES[status] ?? `status ${status}` : "";
        return !status;
    }

    initialMotions() {
        this.model.motions.forEach(([value, rate], i) => this.machine.setMotion(i, this.held[value], this.held[rate]));
    }

    applyInputs() {
        const inputs = this.machine.view("inputs");
        inputs.set(this.held);
        for (const [input, change] of this.keysDown.values()) inputs[input] += change;
    }

    restart() {
        this.machine.time = this.start.time;
        this.machine.view("state").set(this.start.state);
        this.initialMotions();
        this.clear();
        this.check(this.machine.project());
        this.settle();
    }

    // The state was changed by hand: it is the start from now on, at this time.
    beginHere() {
        this.start = {time: this.machine.time, state: Array.from(this.machine.view("state"))};
        this.clear();
        this.settle();
    }

    clear() {
        this.history.length = 0;
        [this.low, this.high, this.bends] = [[], [], []];  // of the curves of the state
    }

    // Energies count from here.
    settle() {
        const status = this.machine.pose(), energies = this.machine.view("energies");
        if (!this.trouble) this.check(status);
        energies[2] = 0;
        [this.energy, this.largest, this.most] = [energies[0] + energies[1], energies[0], Math.abs(energies[1])];
        this.machine.forget();
        this.machine.forgetEvents();
        this.record();
    }

    // |T + U - (T + U)(0) - W| as a part of the largest T; of what hardly moves, as a part of the largest U or W.
    get drift() {
        const [T, U, W] = this.machine.view("energies");
        this.largest = Math.max(this.largest, T);
        this.most = Math.max(this.most, Math.abs(U), Math.abs(W));
        const size = this.largest > 1e-6 * this.most ? this.largest : this.most;
        return size > 0 ? Math.abs(T + U - this.energy - W) / size : 0;
    }

    get residual() { return Math.max(0, ...Array.from(this.machine.view("residuals"), Math.abs)); }

    // The place of the origin, a point or a joint, as numbers of the scene.
    place(n) {
        const {n_points} = this.model.sizes, [view, i] = n > n_points ? ["joints", n - 1 - n_points] : ["places", n - 1];
        return n ? Array.from(this.machine.view(view).subarray(3 * i, 3 * i + 3)) : [0, 0, 0];
    }

    record() {
        const {machine, model, history} = this, view = name => Array.from(machine.view(name));
        while (history.length && history[history.length - 1].t >= machine.time) history.pop();
        history.push({t: machine.time, x: view("state"), r: view("applied"), y: view("outputs"), energies: view("energies"),
            slopes: view("slopes"), power: machine.view("powers")[0], residual: this.residual,
            traces: model.scene.traces.map(n => this.place(n)), picture: this.pictures});
        if (history.length > REMEMBERED) history.shift();
    }

    // Samples of the last pictures, for plots and traces.
    shown() { return this.history.filter(({picture}) => picture > this.pictures - SHOWN); }

    // Seconds between points of a curve whose chords leave it by less than SMOOTH of what it covers: x'' d^2 / 8.
    spacing(span) {
        const {history} = this, [before, now] = history.slice(-2);
        if (!now) return span / FINEST;
        const h = now.t - before.t;
        now.x.forEach((x, i) => {
            this.low[i] = Math.min(this.low[i] ?? x, before.x[i], x);
            this.high[i] = Math.max(this.high[i] ?? x, before.x[i], x);
            this.bends[i] = Math.max(0.9 * (this.bends[i] ?? 0), Math.abs(now.slopes[i] - before.slopes[i]) / h);
        });
        const squares = now.x.map((x, i) =>
            8 * SMOOTH * Math.max(this.high[i] - this.low[i], 1e-9 * Math.max(1, Math.abs(x))) / this.bends[i]);
        return Math.max(span / FINEST, Math.sqrt(Math.min(...squares)));
    }

    // Go on by `span` seconds, or as far as they can be had by `until`; the seconds that passed.
    go(span, until = performance.now() + 1000) {
        const {machine} = this, before = machine.time;
        const run = {...this.model.run, atol: this.model.run.rtol}, points = Math.ceil(span / this.spacing(span));
        this.pictures++;
        const going = this.check(machine.advance(before + span, run, until, points - 1));
        this.recordBetween(until);
        const status = machine.pose();
        if (going) this.check(status);
        this.record();
        return machine.time - before;
    }

    // The samples within the last picture, as many as can be had by `until`; the work up to them is that of chords of the
    // power.
    recordBetween(until) {
        const {machine} = this, end = machine.time, state = Array.from(machine.view("state"));
        const energies = machine.view("energies"), whole = energies[2];
        for (const [t, ...x] of machine.samples()) {
            const last = this.history[this.history.length - 1];
            machine.time = t;
            machine.view("state").set(x);
            if (performance.now() > until || machine.project() || machine.pose()) break;
            energies[2] = last.energies[2] + (t - last.t) * (last.power + machine.view("powers")[0]) / 2;
            this.record();
        }
        machine.time = end;
        machine.view("state").set(state);
        energies[2] = whole;
    }

    setParameter(i, value) {
        const {machine} = this, values = machine.view("parameters"), before = values[i];
        return this.tried(() => {
            values[i] = value;
            return machine.prepare() || machine.project();
        }, () => {
            values[i] = before;
            machine.prepare();
        });
    }

    // A change that may be impossible: then all is as before, and false.
    tried(change, back) {
        const state = Array.from(this.machine.view("state")), status = change();
        if (status) {
            back();
            this.machine.view("state").set(state);
        }
        this.settle();
        if (status) this.check(status);
        return !status;
    }

    // One coordinate or speed, the others as near as the constraints allow: set and brought back in turn.
    setState(i, value) {
        const {machine} = this, x = machine.view("state"), close = 1e-9 * Math.max(1, Math.abs(value));
        const done = this.tried(() => {
            for (let tries = 0; tries < 200; tries++) {
                x[i] = value;
                const status = machine.project();
                if (status || Math.abs(x[i] - value) <= close) return status;
            }
            return 9;
        }, () => {});
        if (done) this.beginHere();
        return done;
    }

    setInput(i, value, speed) {
        const {machine} = this, span = 0.5 * speed;
        this.held[i] = value;
        const motion = this.model.motions.findIndex(inputs => inputs.includes(i));
        if (motion < 0) this.applyInputs();
        else if (this.model.motions[motion][0] === i) machine.glideTo(motion, value, span);
        else machine.glideToRate(motion, value, span);
    }
}
