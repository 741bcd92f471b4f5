// SPDX-License-Identifier: BSD-3-Clause
// Plots of what is remembered of a motion.

const SHOWN = 900;   // samples in a plot
const MOST = 8;      // lines in a plot
const PHASES = 12;   // phase planes that are offered

class Plot {
    constructor(parent, motion, chosen) {
        Object.assign(this, {motion, kinds: kindsOfPlots(motion.model)});
        if (typeof chosen !== "string") {
            this.kinds.unshift({name: chosen.join(", "), series: namedSeries(motion.model, chosen)});
            chosen = this.kinds[0].name;
        }
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
        const {history} = motion, first = Math.max(0, history.length - SHOWN), samples = history.slice(first);
        if (samples.length < 2 || height < 30) return;
        const across = kind.phase ? samples.map(kind.across) : samples.map(({t}) => t);
        const lines = kind.series.slice(0, MOST).map(({name, value}) => ({name, values: samples.map(value)}));
        const along = scaled(ends(across), 8, width - 60), up = scaled(ends(lines.flatMap(({values}) => values)), height - 16, 16);
        const label = (text, x, y) => { pen.fillStyle = colour("--faint"); pen.fillText(text, x, y); };
        label(short(up.high), width - 50, 16);
        label(short(up.low), width - 50, height - 14);
        label(`${short(along.low)} … ${short(along.high)} ${kind.phase ? kind.acrossName : "s"}`, 8, height - 3);
        let left = 12, named = 0;
        lines.forEach(({name, values}, i) => {
            pen.strokeStyle = pen.fillStyle = TRACES[i % TRACES.length];
            pen.lineWidth = 1.3;
            pen.setLineDash(i < TRACES.length ? [] : [4, 3]);
            pen.beginPath();
            values.forEach((value, k) => pen.lineTo(along(across[k]), up(value)));
            pen.stroke();
            const wide = pen.measureText(name).width;
            if (named < i || left + wide > width - 110) return;
            pen.fillText(name, left, 11);
            left += wide + 10;
            named++;
        });
        pen.setLineDash([]);
        if (named < kind.series.length) label(`and ${kind.series.length - named}`, left, 11);
    }
}

function kindsOfPlots({coordinates, speeds, states, outputs, inputs, constraints}) {
    const column = (names, key, offset = 0) => names.map((name, i) => ({name, value: sample => sample[key][offset + i]}));
    const n_q = coordinates.length;
    const energy = pick => ({energies: [T, U, W]}) => pick(T, U, W);
    const kinds = [
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
    for (let i = 0; i < Math.min(n_q, speeds.length, PHASES); i++) {
        kinds.push({name: `phase: ${coordinates[i]}, ${speeds[i]}`, phase: true, acrossName: coordinates[i],
            across: ({x}) => x[i], series: [{name: speeds[i], value: ({x}) => x[n_q + i]}]});
    }
    return kinds.filter(({series}) => series.length);
}

function namedSeries({coordinates, speeds, states, outputs, inputs}, names) {
    const all = [[[...coordinates, ...speeds, ...states], "x"], [outputs, "y"], [inputs.map(each => each.name), "r"]];
    return names.map(name => {
        const [among, key] = all.find(([each]) => each.includes(name));
        const i = among.indexOf(name);
        return {name, value: sample => sample[key][i]};
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

// Pixels of a value, with the ends of the axis.
function scaled([low, high], from, to) {
    const place = value => from + (to - from) * (value - low) / (high - low);
    return Object.assign(place, {low, high});
}

const short = value => Number(value.toPrecision(3)).toString();

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
