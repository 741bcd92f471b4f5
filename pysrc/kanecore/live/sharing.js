// SPDX-License-Identifier: BSD-3-Clause
// The state and the values as a link, as a line of Python, and the motion as a table.

// What is not as the page was written: time, state, and parameters and inputs that were moved.
function valuesNow({machine, model, held}) {
    const names = [...model.coordinates, ...model.speeds, ...model.states], p = machine.view("parameters"), x = machine.view("state");
    const moved = (rows, values) => rows.map(({name, value}, i) => [name, values[i], value])
        .filter(([, now, before]) => now !== before).map(([name, now]) => [name, now]);
    return {
        t: machine.time,
        state: names.map((name, i) => [name, x[i]]),
        parameters: moved(model.parameters, p),
        inputs: moved(model.inputs, held),
    };
}

// The fragment of a link: t, and s.NAME, p.NAME, r.NAME of states, parameters and inputs.
function linkTo(motion) {
    const {t, state, parameters, inputs} = valuesNow(motion), query = new URLSearchParams({t});
    for (const [prefix, rows] of [["s", state], ["p", parameters], ["r", inputs]])
        for (const [name, value] of rows) query.set(`${prefix}.${name}`, value);
    return `#${query}`;
}

// Take the values of a link; what is no number, or of another model, is passed over.
function follow(link, motion, setParameter, setInput) {
    const query = new URLSearchParams(link.replace(/^#/, "")), {model, machine} = motion;
    const number = key => {
        const text = query.get(key), value = Number(text);
        return text !== null && text.trim() !== "" && Number.isFinite(value) ? value : null;
    };
    const each = (prefix, names, take) => names.forEach((name, i) => {
        const value = number(`${prefix}.${name}`);
        if (value !== null) take(i, value);
    });
    each("p", model.parameters.map(({name}) => name), setParameter);
    each("r", model.inputs.map(({name}) => name), setInput);
    const x = machine.view("state");
    each("s", [...model.coordinates, ...model.speeds, ...model.states], (i, value) => { x[i] = value; });
    machine.time = number("t") ?? machine.time;
    motion.check(machine.project());
    motion.beginHere();
}

// The call that goes on from here.
function pythonLine(motion) {
    const {t, state, parameters, inputs} = valuesNow(motion);
    const table = rows => `{${rows.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(", ")}}`;
    const more = [["parameters", parameters], ["inputs", inputs]].filter(([, rows]) => rows.length)
        .map(([name, rows]) => `, ${name}=${table(rows)}`);
    return `sol = dyn.simulate((${t}, ${t + 5}), ${table(state)}${more.join("")})`;
}

// All that is remembered, as comma-separated values (RFC 4180).
function tableOf({history, model}) {
    const names = ["t", ...model.coordinates, ...model.speeds, ...model.states, ...model.inputs.map(({name}) => name), ...model.outputs,
        "T", "U", "W"];
    const quoted = name => /[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
    const rows = history.map(({t, x, r, y, energies}) => [t, ...x, ...r, ...y, ...energies].join(","));
    return [names.map(quoted).join(","), ...rows, ""].join("\r\n");
}
