// SPDX-License-Identifier: BSD-3-Clause
// Plots of what is remembered of a motion.

const MOST = 8;      // lines in a plot
const PHASES = 12;   // phase planes that are offered

class Plot {
    constructor(parent, motion, chosen) {
        const named = typeof chosen !== "string";
        Object.assign(this, {motion, kinds: kindsOfPlots(motion.model, named ? [chosen] : [])});
        if (named) chosen = this.kinds[0].name;
        if (chosen === "phase") chosen = this.kinds.find(kind => kind.phase)?.name;
        const box = document.createElement("div");
        box.className = "plot";
        this.select = document.createElement("select");
        this.select.setAttribute("aria-label", "what is plotted");
        for (const {name} of this.kinds) this.select.add(new Option(name, name));
        this.select.value = this.kinds.some(kind => kind.name === chosen) ? chosen : this.kinds[0].name;
        this.select.addEventListener("change", () => this.draw());
        this.canvas = document.createElement("canvas");
        this.canvas.setAttribute("role", "img");
        box.append(this.select, this.canvas);
        parent.append(box);
        this.pen = this.canvas.getContext("2d");
    }

    draw() {
        const {canvas, pen, motion} = this, kind = this.kinds.find(each => each.name === this.select.value);
        const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
        canvas.width = ratio * width;
        canvas.height = ratio * height;
        canvas.setAttribute("aria-label", `plot of ${kind.name}`);
        pen.setTransform(ratio, 0, 0, ratio, 0, 0);
        pen.font = "11px system-ui, sans-serif";
        const samples = motion.shown();
        if (samples.length < 2 || height < 30) return;
        const lines = kind.series.slice(0, MOST).map(({value, ...line}) => ({...line, values: samples.map(value)}));
        const across = samples.map(kind.across), [low, high] = ends(lines.flatMap(({values}) => values));
        const label = (text, x, y) => { pen.fillStyle = colour("--ink"); pen.fillText(text, x, y); };
        const marks = ticks(low, high, height / 30), wide = marks.map(mark => pen.measureText(mark).width);
        const left = 8 + Math.max(...wide), right = width - 8, bottom = height - 18, top = 20;
        const along = scaled(ends(across), left, right), up = scaled([low, high], bottom, top);
        pen.lineWidth = 1;
        pen.strokeStyle = colour("--rule");
        pen.beginPath();
        marks.forEach((mark, i) => {
            pen.moveTo(left, up(mark));
            pen.lineTo(right, up(mark));
            label(mark, left - 4 - wide[i], up(mark) + 4);
        });
        const name = kind.acrossName, last = right - pen.measureText(name).width;
        label(name, last, height - 3);
        for (const mark of ticks(along.low, along.high, (right - left) / 60)) {
            pen.moveTo(along(mark), bottom);
            pen.lineTo(along(mark), top);
            const half = pen.measureText(mark).width / 2;
            if (along(mark) + half < last - 6) label(mark, along(mark) - half, height - 3);
        }
        pen.stroke();
        const units = new Set(kind.series.map(({unit}) => unit ?? "")), common = units.size === 1 ? [...units][0] : "";
        label(common, 4, 11);
        let next = 4 + (common ? pen.measureText(common).width + 12 : 0), named = 0;
        lines.forEach(({name, unit, values}, i) => {
            pen.strokeStyle = pen.fillStyle = TRACES[i % TRACES.length];
            pen.lineWidth = 1.3;
            pen.setLineDash(i < TRACES.length ? [] : [4, 3]);
            pen.beginPath();
            values.forEach((value, k) => pen.lineTo(along(across[k]), up(value)));
            pen.stroke();
            const text = common ? name : withUnit(name, unit), long = pen.measureText(text).width;
            if (named < i || next + long > width - 50) return;
            pen.fillText(text, next, 11);
            next += long + 10;
            named++;
        });
        pen.setLineDash([]);
        if (named < kind.series.length) label(`and ${kind.series.length - named}`, next, 11);
    }
}

// What can be plotted: series of values of samples, with names and units, against the time or, in a phase plane, a
// coordinate against its own rate.  `chosen`: lists of names that are plotted together.
function kindsOfPlots(model, chosen) {
    const {coordinates, speeds, states, outputs, inputs, constraints} = model;
    const column = (names, key, offset = 0) => names.map((name, i) =>
        ({name: labelOf(model, name), unit: unitOf(model, name), value: sample => sample[key][offset + i]}));
    const n_q = coordinates.length;
    const energy = pick => ({energies: [T, U, W]}) => pick(T, U, W);
    const kinds = [
        ...chosen.map(names => ({name: names.map(name => labelOf(model, name)).join(", "), series: namedSeries(model, names)})),
        {name: "coordinates", series: column(coordinates, "x")},
        {name: "speeds", series: column(speeds, "x", n_q)},
        ...(states.length ? [{name: "states", series: column(states, "x", n_q + speeds.length)}] : []),
        {name: "outputs", series: column(outputs, "y")},
        {name: "inputs", series: column(inputs.map(each => each.name), "r")},
        {name: "energies", series: [
            {name: "T", value: energy(T => T)}, {name: "U", value: energy((T, U) => U)},
            {name: "T + U", value: energy((T, U) => T + U)}, {name: "work W", value: energy((T, U, W) => W)},
        ]},
        {name: "power", series: [{name: "d(T + U)/dt, by the loads and the hand", value: sample => sample.power}]},
        {name: "residuals", series: constraints.length
            ? [{name: "log₁₀ of the largest constraint residual", value: ({residual}) => Math.log10(Math.max(residual, 1e-17))}]
            : []},
    ];
    coordinates.slice(0, PHASES).forEach((name, i) => {
        const label = labelOf(model, name), rate = `d${label}/dt`;
        const unit = Object.hasOwn(model.units, name) ? `${model.units[name] || "1"}/s` : "";
        kinds.push({name: `phase: ${label}, ${rate}`, phase: true, acrossName: titled(model, name), across: ({x}) => x[i],
            series: [{name: rate, unit, value: ({slopes}) => slopes[i]}]});
    });
    return kinds.filter(({series}) => series.length).map(kind => ({acrossName: "t, s", across: ({t}) => t, ...kind}));
}

function namedSeries(model, names) {
    const {coordinates, speeds, states, outputs, inputs} = model;
    const all = [[[...coordinates, ...speeds, ...states], "x"], [outputs, "y"], [inputs.map(each => each.name), "r"]];
    return names.map(name => {
        const [among, key] = all.find(([each]) => each.includes(name));
        const i = among.indexOf(name);
        return {name: labelOf(model, name), unit: unitOf(model, name), value: sample => sample[key][i]};
    });
}

function ends(values) {
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) {
        low = Math.min(low, value);
        high = Math.max(high, value);
    }
    const least = 1e-12 * Math.max(1, Math.abs(high));
    return high - low > least ? [low, high] : [low - 0.5, high + 0.5];
}

// Round values between two, about as many as asked for.
function ticks(low, high, count) {
    const least = (high - low) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(least));
    const step = power * [1, 2, 5, 10].find(factor => factor * power >= least * (1 - 1e-9)), first = Math.ceil(low / step);
    return Array.from({length: Math.floor(high / step) - first + 1}, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

// Pixels of a value, with the ends of the axis.
function scaled([low, high], from, to) {
    const place = value => from + (to - from) * (value - low) / (high - low);
    return Object.assign(place, {low, high});
}

const short = value => Number(value.toPrecision(3)).toString();

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
