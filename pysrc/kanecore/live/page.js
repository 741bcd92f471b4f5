// SPDX-License-Identifier: BSD-3-Clause
// The page: puts machine, motion, picture, plots, controls and hands together, and runs them.

const $ = id => document.getElementById(id);
const model = JSON.parse($("model").textContent);
const FACTORS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const ONE = 1 / 60;     // seconds of the page in a step
const LAZY = 6;         // pictures between two looks at the numbers
const OPEN = 6;         // sliders that are not folded

let machine, motion, picture, hands, plots, refresh = [], shows = {}, running = false, last = 0, count = 0, rate = 1;

const speed = () => Number($("speed").value);
const say = text => { $("message").textContent = text; };

// ---------------------------------------------------------------------------------------------- the picture

function stateOfPicture() {
    const {scene} = model, still = [1, 0, 0, 0, 1, 0, 0, 0, 1];
    const first = model.parameters.map(each => each.value);
    const number = new Map(model.parameters.map(({name}, i) => [name, i]));
    return {
        solids: new Solids(scene.solids, name => machine.view("parameters")[number.get(name)]),
        place: n => motion.place(n),
        axes: body => {
            const frame = scene.bodies[body][1];
            return frame < 0 ? still : machine.view("axes").subarray(9 * frame, 9 * frame + 9);
        },
        path: i => motion.shown().map(({traces}) => traces[i]),
        // Lines grow with the parameters that are sizes.
        shapes: () => scene.shapes.map(([body, points, kind, slopes]) => {
            const p = machine.view("parameters"), moved = slopes.filter(([i]) => p[i] !== first[i]);
            if (!moved.length) return [body, points, kind];
            const grown = (v, k, c) => moved.reduce((sum, [i, slope]) => sum + (p[i] - first[i]) * slope[k][c], v);
            return [body, points.map((point, k) => point.map((v, c) => grown(v, k, c))), kind];
        }),
    };
}

// The picture grows where a place leaves it, and goes along with what it follows.
function frameUp() {
    const {scene} = model, {state} = picture, n = 1 + model.sizes.n_points + model.sizes.n_joints;
    if (scene.follow >= 0) {
        const centre = state.place(scene.follow), half = scene.low.map((v, i) => (scene.high[i] - v) / 2);
        scene.low = centre.map((v, i) => v - half[i]);
        scene.high = centre.map((v, i) => v + half[i]);
        return;
    }
    for (let i = 0; i < n; i++) {
        const place = state.place(i);
        if (place.some(v => !Number.isFinite(v))) continue;
        const middle = scene.low.map((v, k) => (v + scene.high[k]) / 2);
        scene.radius = Math.max(scene.radius, Math.hypot(...place.map((v, k) => v - middle[k])));
        if (!scene.basis) continue;
        scene.low = scene.low.map((v, k) => Math.min(v, place[k]));
        scene.high = scene.high.map((v, k) => Math.max(v, place[k]));
    }
}

function draw() {
    frameUp();
    picture.draw();
    hands.show();
    for (const plot of plots) plot.draw();
    $("time").value = `t = ${motion.machine.time.toPrecision(4)} s`;
    if (!running || count++ % LAZY === 0) for (const show of refresh) show();
}

function useColours() {
    for (const name of ["body", "shape", "centre", "ground"]) picture.colours[name] = colour(`--${name}`);
    picture.colours.inside = colour("--paper");
}

// --------------------------------------------------------------------------------------------------- the run

// The seconds that passed since the last picture, or what of them can be had in time.
function frame(now) {
    if (!running) return;
    const passed = Math.min(LONGEST, Math.max(0, (now - last) / 1000));
    last = now;
    if (passed > 0) {
        const wanted = passed * speed(), gone = motion.go(wanted, performance.now() + PATIENCE);
        rate += 0.1 * (gone / passed - rate);
        const slow = rate < 0.9 * speed();
        $("pace").value = `${slow ? rate.toPrecision(2) : short(speed())} ×`;
        $("pace").classList.toggle("slow", slow);
    }
    if (motion.trouble) {
        say(`stopped at t = ${machine.time.toPrecision(6)} s: ${motion.trouble}`);
        run(false);
    }
    draw();
    if (running) requestAnimationFrame(frame);
}

function run(on) {
    if (on && motion.trouble) {
        motion.restart();
        say("");
    }
    running = on;
    $("run").textContent = on ? "Pause" : "Play";
    if (!on) $("pace").value = "";
    [last, rate] = [performance.now(), speed()];
    if (on) requestAnimationFrame(frame);
    else draw();
}

function step() {
    run(false);
    motion.go(ONE * speed());
    say(motion.trouble);
    draw();
}

function reset() {
    motion.restart();
    say("");
    draw();
}

function original() {
    motion.start = {time: model.start.time, state: [...model.start.state]};
    model.parameters.forEach(({value}, i) => {
        machine.view("parameters")[i] = value;
        shows[`p${i}`]?.(value);
    });
    model.inputs.forEach(({value}, i) => {
        motion.held[i] = value;
        shows[`r${i}`]?.(value);
    });
    machine.prepare();
    motion.applyInputs();
    reset();
}

// ------------------------------------------------------------------------------------------- what can be moved

function setParameter(i, value) {
    const there = () => machine.view("parameters")[i], name = labelOf(model, model.parameters[i].name);
    if (value === undefined || !Number.isFinite(value)) return there();
    say(motion.setParameter(i, value) ? "" : `${name} cannot be ${short(value)} here: ${motion.trouble}`);
    motion.trouble = "";
    if (!running) draw();
    return there();
}

function setInput(i, value) {
    if (value === undefined || !Number.isFinite(value)) return motion.held[i];
    motion.setInput(i, value, speed());
    if (!running) {
        motion.settle();
        draw();
    }
    return value;
}

function setState(i, value) {
    const names = [...model.coordinates, ...model.speeds, ...model.states], there = () => machine.view("state")[i];
    if (value === undefined || !Number.isFinite(value)) return there();
    say(motion.setState(i, value) ? "" : `${labelOf(model, names[i])} cannot be ${short(value)} here: ${motion.trouble}`);
    motion.trouble = "";
    draw();
    return there();
}

// Title and text above the picture; a name alone, in words, leaves the room to it.
function about() {
    const {title, text} = model, name = model.name.replaceAll("_", " ").replace(/^./, c => c.toUpperCase());
    const place = $(title || text ? "about" : "side");
    place.append(element("h1", {textContent: title || name}));
    if (text) place.append(element("p", {textContent: text}));
}

function side() {
    const parent = $("side"), {inputs, parameters} = model;
    let open = OPEN;
    const sliders = (title, rows, prefix, change) => {
        const offered = rows.map((row, i) => [row, i]).filter(([row]) => row.range);
        if (!offered.length) return;
        let part = section(parent, title, open > 0);
        if (!open) open = offered.length;  // the section itself is folded
        offered.forEach(([row, i], k) => {
            if (k === open) part = section(part, "more", false);
            shows[prefix + i] = sliderRow(part, labelOf(model, row.name), titled(model, row.name), row, value => change(i, value));
        });
        open = Math.max(0, open - offered.length);
    };
    sliders("inputs", inputs, "r", setInput);
    if (model.feedback) {
        const box = element("input", {type: "checkbox", checked: true});
        box.addEventListener("change", () => machine.wasm.set_feedback(box.checked ? 1 : 0));
        parent.append(element("label", {}, box, " feedback r − K (x − x₀)"));
    }
    sliders("parameters", parameters, "p", setParameter);
    const names = [...model.coordinates, ...model.speeds, ...model.states];
    const state = section(parent, "state", names.length <= 16);
    names.forEach((name, i) => {
        const show = boxRow(state, titled(model, name), value => setState(i, value));
        refresh.push(() => { if (state.open) show(machine.view("state")[i]); });
    });
    const check = section(parent, "accuracy", true);
    if (machine.hasPower) {
        const show = outputRow(check, "energy drift", "T + U minus the work of all loads without a potential, relative to T");
        refresh.push(() => show(motion.drift.toExponential(1)));
    }
    if (model.sizes.n_residuals) {
        const show = outputRow(check, "constraint error", "the largest residual");
        refresh.push(() => show(motion.residual.toExponential(1)));
    }
    share(parent);
}

function share(parent) {
    const part = section(parent, "share", false), text = element("textarea", {readOnly: true});
    text.setAttribute("aria-label", "text to copy");
    const button = (name, make) => element("button", {type: "button", textContent: name, onclick: make});
    const put = value => {
        text.value = value;
        text.select();
        navigator.clipboard?.writeText(value).catch(() => {});
    };
    part.append(
        button("Link", () => {
            const link = linkTo(motion);
            try { history.replaceState(null, "", link); } catch { /* a page in a frame has no address */ }
            put(location.protocol === "about:" ? link : location.href.replace(/#.*/, "") + link);
        }),
        button("Python", () => put(pythonLine(motion))),
        button("CSV", () => {
            const table = tableOf(motion);
            put(table);
            const link = element("a", {download: `${model.name.replace(/[^\w-]+/g, "_")}.csv`,
                href: URL.createObjectURL(new Blob([table], {type: "text/csv"}))});
            link.click();
        }),
        text,
    );
}

// ------------------------------------------------------------------------------------------------------- keys

function keys() {
    const typing = target => ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName);
    addEventListener("keydown", event => {
        if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
        const {key} = event, turns = {ArrowLeft: [-8, 0], ArrowRight: [8, 0], ArrowUp: [0, -8], ArrowDown: [0, 8]};
        if (event.shiftKey && turns[key]) {
            picture.turn(...turns[key]);
            draw();
        } else if (Object.hasOwn(model.keys, key)) {
            motion.keysDown.set(key, model.keys[key]);
            motion.applyInputs();
        } else if (key === " " && event.target.tagName !== "BUTTON" && event.target.tagName !== "SUMMARY") run(!running);
        else if (key === ".") step();
        else if (key === "r") reset();
        else if (key === "+" || key === "-") hands.zoom(key === "+" ? 1.1 : 1 / 1.1);
        else return;
        event.preventDefault();
    });
    const release = key => {
        motion.keysDown.delete(key);
        motion.applyInputs();
    };
    addEventListener("keyup", event => release(event.key));
    addEventListener("blur", () => [...motion.keysDown.keys()].forEach(release));
}

function hint() {
    const hand = machine.hasForces && model.pull > 0 ? ["Drag a body to pull it; pause first to place it."] : [];
    const inputs = [...new Set(Object.values(model.keys).map(([i]) => i))];
    const keys = inputs.map(input => {
        const own = Object.keys(model.keys).filter(key => model.keys[key][0] === input);
        const arrows = own.every(key => key.startsWith("Arrow"));
        const names = own.map(key => arrows ? key.slice(5).toLowerCase() : key).join("/");
        return `${arrows ? "Arrow keys" : own.length > 1 ? "Keys" : "Key"} ${names}: change ${labelOf(model, model.inputs[input].name)}.`;
    });
    const push = model.pushed ? ["The start is an equilibrium with a small push."] : [];
    $("hint").textContent = [...hand, ...keys, ...push].join("\n");
    $("scene").setAttribute("aria-label", `picture of ${model.title || model.name}`);
}

// ------------------------------------------------------------------------------------------------------ begin

async function begin() {
    const [player, code] = await Promise.all(["player", "code"].map(id => unpacked($(id).textContent)));
    machine = await Machine.open(player, code, model.sizes);
    motion = new Motion(machine, model);
    picture = new Picture($("scene"), model.scene, stateOfPicture());
    picture.colours = {...LIGHT};
    useColours();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { useColours(); draw(); });
    plots = model.plots.map(chosen => new Plot($("plots"), motion, chosen));
    hands = new Hands({canvas: $("scene"), picture, motion, model, isRunning: () => running, speed, changed: () => running || draw()});
    for (const factor of FACTORS) $("speed").add(new Option(`${short(factor * model.speed)} ×`, factor * model.speed));
    $("speed").value = model.speed;
    about();
    side();
    keys();
    hint();
    $("run").addEventListener("click", () => run(!running));
    $("step").addEventListener("click", step);
    $("reset").addEventListener("click", reset);
    $("original").addEventListener("click", original);
    $("bar").addEventListener("submit", event => event.preventDefault());
    for (const id of ["run", "step", "reset", "original"]) $(id).disabled = false;
    addEventListener("resize", () => running || draw());
    say(motion.trouble);
    if (location.hash.length > 1) {
        follow(location.hash, motion, (i, value) => shows[`p${i}`]?.(setParameter(i, value)),
            (i, value) => shows[`r${i}`]?.(setInput(i, value)));
    }
    draw();
    run(!motion.trouble && !matchMedia("(prefers-reduced-motion: reduce)").matches && location.hash.length <= 1);
}

const began = begin().catch(error => {
    const forbidden = typeof WebAssembly === "undefined" || error instanceof WebAssembly.CompileError;
    say(forbidden
        ? `The model cannot run here: this browser, or the page around this one, forbids WebAssembly. (${error.message})`
        : `The model cannot run: ${error.message}`);
});
