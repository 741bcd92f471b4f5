// SPDX-License-Identifier: BSD-3-Clause
// The motion of a page: its start, its steps, what is remembered of it, and how exact it is.

const REMEMBERED = 20000;  // samples, for CSV
const PATIENCE = 12;       // milliseconds of a picture that go into steps
const LONGEST = 0.1;       // seconds: a longer pause, as of a hidden page, is no motion

class Motion {
    constructor(machine, model) {
        Object.assign(this, {machine, model, history: [], trouble: "", holds: null});
        this.start = {time: model.start.time, state: [...model.start.state]};
        this.trails = model.scene.traces.map(() => []);
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
        this.history.length = 0;
        this.trails.forEach(trail => { trail.length = 0; });
        this.check(this.machine.project());
        this.settle();
    }

    // The state was changed by hand: it is the start from now on, at this time.
    beginHere() {
        this.start = {time: this.machine.time, state: Array.from(this.machine.view("state"))};
        this.history.length = 0;
        this.trails.forEach(trail => { trail.length = 0; });
        this.settle();
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

    record() {
        const {machine, history} = this, view = name => Array.from(machine.view(name));
        const last = history[history.length - 1];
        if (last && last.t >= machine.time) history.pop();
        history.push({t: machine.time, x: view("state"), r: view("applied"), y: view("outputs"), energies: view("energies"),
            power: machine.view("powers")[0], residual: this.residual});
        if (history.length > REMEMBERED) history.shift();
    }

    // Go on by `span` seconds, or as far as they can be had by `until`; the seconds that passed.
    go(span, until = performance.now() + 1000) {
        const {machine} = this, before = machine.time;
        const going = this.check(machine.advance(before + span, {...this.model.run, atol: this.model.run.rtol}, until));
        const status = machine.pose();
        if (going) this.check(status);
        this.record();
        return machine.time - before;
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
