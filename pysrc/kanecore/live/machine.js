// SPDX-License-Identifier: BSD-3-Clause
// A model that runs: the player (kc_player.c, in WebAssembly) with the code of one model.

// Arrays of the player and kernels, by their numbers in kc_player.c and live_code.py.
const VIEWS = ["time", "state", "parameters", "inputs", "applied", "places", "axes", "joints", "energies", "powers",
    "residuals", "outputs", "slopes", "gain", "about", "grip", "samples"];
const MOST_SAMPLES = 64;
const [HAS_FORCES, HAS_POWER] = [2, 6];
const STATUSES = {
    1: "the mass matrix is singular",
    2: "a number is not finite",
    3: "a step would be below rounding",
    4: "it takes too many steps",
    6: "a row of the constraints contradicts the others",
    7: "a row of the constraints is lost at this state",
    8: "a constraint on speeds cannot be satisfied",
    9: "a constraint on coordinates cannot be satisfied",
    10: "the motion crosses a jump of its slopes forth and back",
    11: "the constraints ask for a jump of the state",
    12: "the motion does not come beyond this time",
    14: "a load depends on reactions, and no solution is connected with that without friction",
    15: "a load depends on reactions, and Newton's steps for it do not end",
    100: "an event ends the motion",
};
const GLIDE_BYTES = 80, GLIDE_NUMBERS = 8;  // start, span, six coefficients; then four inputs

class Machine {
    // `sizes`: n_x, n_r, n_p, ... of the model, for the lengths of the arrays.
    static async open(player, code, sizes) {
        const names = ["acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cosh", "exp", "log", "pow", "sinh",
            "tan", "tanh"];
        const env = Object.fromEntries(names.map(name => [name, Math[name]]));
        const {instance} = await WebAssembly.instantiate(player,
            {env: {...env, fmod: (a, b) => a % b, now: () => performance.now()}});
        return new Machine(instance.exports, code, sizes);
    }

    constructor(wasm, code, sizes) {
        this.wasm = wasm;
        const trouble = wasm.open_code(this.lay(code));
        if (trouble) throw Error(trouble === 1 ? "the code is for another version of the player" : "the code is broken");
        const {n_q, n_u, n_z, n_r, n_p, n_points, n_frames, n_joints, n_residuals, n_outputs} = sizes;
        const n_x = n_q + n_u + n_z;
        const lengths = [1, n_x, n_p, n_r, n_r, 3 * n_points, 9 * n_frames, 3 * n_joints, 3, 1, n_residuals, n_outputs,
            n_x, n_r * n_x, n_x, 6, MOST_SAMPLES * (1 + n_x)];
        this.n_x = n_x;
        this.addresses = VIEWS.map((_, i) => [wasm.view_of(i), lengths[i]]);
        this.hasForces = Boolean(wasm.has_kernel(HAS_FORCES));
        this.hasPower = Boolean(wasm.has_kernel(HAS_POWER));
    }

    // The arrays are looked up at each use: they move when memory grows.
    view(name) {
        const [address, length] = this.addresses[VIEWS.indexOf(name)];
        return new Float64Array(this.wasm.memory.buffer, address, length);
    }

    lay(bytes) {
        const at = this.wasm.allocate(bytes.length + 8);
        new Uint8Array(this.wasm.memory.buffer, at, bytes.length).set(bytes);
        return at;
    }

    layNumbers(numbers) {
        return this.lay(new Uint8Array(Float64Array.from(numbers).buffer));
    }

    get time() { return this.view("time")[0]; }

    set time(t) { this.view("time")[0] = t; }

    // Each of these answers with a status, 0 where all is well.
    prepare() { return this.wasm.prepare(); }

    project() { return this.wasm.project(); }

    pose() { return this.wasm.pose(); }

    // Go on to time `end`, or as far as it goes until the clock says `until`, in milliseconds, with samples between.
    advance(end, {method, step, rtol, atol}, until = Infinity, between = 0) {
        if (this.method !== method) {
            this.method = method;
            this.methodAt = this.lay(new TextEncoder().encode(`${method}\0`));
        }
        return this.wasm.advance(end, this.methodAt, step, rtol, atol, until, between);
    }

    // [t, ...x] of the samples of the last advance.
    samples() {
        const all = this.view("samples"), n = 1 + this.n_x;
        return Array.from({length: this.wasm.samples_taken()}, (_, i) => Array.from(all.subarray(n * i, n * (i + 1))));
    }

    // A change of the state from outside: nothing is known of the next step.
    forget() { this.wasm.forget_step(); }

    forgetEvents() { this.wasm.forget_events(); }

    // Inputs that are cubics between knots: coefficients (n - 1, n_r, 4), and of each input whether it is one.
    setSignals({knots, coefficients, which}) {
        const flags = new Uint8Array(Uint32Array.from(which).buffer);
        this.wasm.set_signals(knots.length, this.layNumbers(knots), this.layNumbers(coefficients), this.lay(flags));
    }

    // Events: of each its direction, whether it ends the motion, and what of the state its reset changes, by values
    // that stand behind those of all events in the further outputs.
    setEvents(events) {
        const words = events.flatMap(({direction, terminal, first, places}) => [direction, terminal, first, places.length]);
        const lay = numbers => this.lay(new Uint8Array(Int32Array.from(numbers).buffer));
        this.wasm.set_events(events.length, lay(words), lay(events.map(each => each.direction)),
            lay(events.map(({terminal, places}) => terminal || places.length ? 1 : 0)),
            lay(events.flatMap(({places}) => places)));
    }

    setFeedback(gain, about) {
        this.view("gain").set(gain);
        this.view("about").set(about);
        this.wasm.set_feedback(1);
    }

    // Prescribed motions that sliders move: of each its input and those of its rates.
    setMotions(motions) {
        this.motions = motions.map(inputs => ({inputs, start: 0, span: 0, coefficients: [0, 0, 0, 0, 0, 0]}));
        this.glides = this.wasm.make_glides(motions.length);
        motions.forEach((_, i) => this.writeMotion(i));
    }

    writeMotion(i) {
        const {inputs, start, span, coefficients} = this.motions[i], at = this.glides + GLIDE_BYTES * i;
        new Float64Array(this.wasm.memory.buffer, at, GLIDE_NUMBERS).set([start, span, ...coefficients]);
        new Int32Array(this.wasm.memory.buffer, at + 8 * GLIDE_NUMBERS, 4).set([...inputs, -1, -1, -1].slice(0, 4));
    }

    // Value, rate and its rate of a motion now.
    motionNow(i) {
        const {start, span, coefficients} = this.motions[i], passed = this.time - start, s = Math.min(passed, span);
        let c = [...coefficients];
        const values = [0, 1, 2].map(() => {
            const value = c.reduceRight((sum, each) => sum * s + each, 0);
            c = c.slice(1).map((each, j) => (j + 1) * each);
            return value;
        });
        values[0] += Math.max(0, passed - span) * values[1];
        return values;
    }

    // From now on this motion goes on at a rate, from a value.
    setMotion(i, value, rate) {
        Object.assign(this.motions[i], {start: this.time, span: 0, coefficients: [value, rate, 0, 0, 0, 0]});
        this.writeMotion(i);
    }

    // Move to a value within `span` and rest there: a polynomial of degree 5, so that all rates are continuous.
    glideTo(i, target, span) {
        const [a, b, c] = this.motionNow(i), T = span, d = target - a - b * T - c * T * T / 2;
        const e = -(b + c * T) * T, f = -c * T * T;
        const coefficients = [a, b, c / 2, (10 * d - 4 * e + f / 2) / T ** 3, (-15 * d + 7 * e - f) / T ** 4,
            (6 * d - 3 * e + f / 2) / T ** 5];
        Object.assign(this.motions[i], {start: this.time, span, coefficients});
        this.writeMotion(i);
    }

    // Come to a rate within `span`, from where it is, and go on at it.
    glideToRate(i, target, span) {
        const [a, b, c] = this.motionNow(i), T = span, e = target - b - c * T, f = -c * T;
        Object.assign(this.motions[i], {
            start: this.time, span,
            coefficients: [a, b, c / 2, (3 * e - f) / T ** 2 / 3, (-2 * e + f) / T ** 3 / 4, 0],
        });
        this.writeMotion(i);
    }

    grab(point, frame, local, target, frequency, ratio) {
        this.view("grip").set([...local, ...target]);
        return this.wasm.grab(point, frame, frequency, ratio);
    }

    drawTo(target) { this.view("grip").set(target, 3); }

    letGo() { this.wasm.grab(-1, -1, 0, 0); }

    drag() { return this.wasm.drag(); }
}

// Bytes of a script element: gzip, then base64.
async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text.trim()), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}
