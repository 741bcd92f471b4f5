// SPDX-License-Identifier: BSD-3-Clause
// Sphinx's search wants all words of a query on a page.  Here a page needs half of them, and rare words, headings and
// keywords weigh more; pages for a few readers count half.  Synonyms find pages too; a word that is on no page counts
// as the words like it, or not at all.  A result leads to the section whose heading fits best.  `searched.py` ranks in
// the same way, with the words of this file.
const HEADING = 15, RELATED = 0.6, ROUNDED = 1000;
const FOR_A_FEW = /^(developers\/|background\/sources\/|reference\/changelog)/;
const FILLERS = `
about between can could do does from get gets how i instead make me my need our should there us use used using versus vs
want we what when where which who why would you your
`;
const SYNONYMS = `
aerodynamic drag resistance
allocation heap malloc memory stack
animation film gif movie mp4 video
arm manipulator robot
attitude orientation rotation
benchmark fast performance slow
bounce impact restitution
bug debug error fail wrong
bump height terrain
cable rope string tether
center centre
chain linkage loop
chart curve diagram graph plot
classroom course exam exercise homework problem student teaching
codegen export generate
collision contact obstacle touch
colab jupyter notebook
core multiprocessing parallel thread
damper damping dashpot viscous
derivative differentiate gradient sensitivity
desired reference setpoint target
dof freedom
draw image picture render viewer visualization
drone quadcopter quadrotor uav
eigenfrequency eigenvalue frequency mode pole vibration
elastic spring stiffness
energy power work
equilibrium trim
estimate kalman observer
expression formula symbolic
feet foot
float float32 precision single
floor ground road terrain
follow track trajectory
gain tuning
legged locomotion walking
hinge pin revolute
inertia mass
integrator ode solver
lagrange lagrangian
latex print
licence license
limit saturation stop
ligament muscle tendon
minimize optimization
moment torque
motor actuator servo
skid slip traction
tire tyre wheel
`;
const pagesWith = Search.performTermsSearch;
const wordsIn = text => text.trim().split(/\s+/);
const stemsOf = (() => {
  let stemmer;
  return words => words.map(word => (stemmer ??= new Stemmer()).stemWord(word));
})();

const pagesByKeyword = stem =>
  Object.entries(Search._index.indexentries).flatMap(([entry, places]) =>
    stemsOf(splitQuery(entry)).includes(stem) ? places.filter(([, , main]) => main).map(([page]) => page) : []);

const isKnown = stem => {
  const { terms, titleterms } = Search._index;
  return Object.hasOwn(terms, stem) || Object.hasOwn(titleterms, stem) || pagesByKeyword(stem).length > 0;
};

const pagesOf = (stem, excluded) => {
  const { docnames } = Search._index;
  const scores = pagesWith(new Set([stem]), excluded).map(result => [docnames.indexOf(result[0]), result[4]]);
  return new Map([...scores, ...pagesByKeyword(stem).map(page => [page, HEADING])]);
};

const synonyms = stem =>
  SYNONYMS.trim().split("\n").map(line => stemsOf(wordsIn(line))).filter(group => group.includes(stem)).flat()
    .filter(other => other !== stem && isKnown(other));

// One letter wrong, missing or too many, or two in the other order.
const isMisspelt = (word, other) => {
  let start = 0, end = 0;
  while (start < word.length && word[start] === other[start]) start++;
  const common = Math.min(word.length, other.length) - start;
  while (end < common && word.at(-1 - end) === other.at(-1 - end)) end++;
  const [one, two] = [word, other].map(text => text.slice(start, text.length - end));
  return (one.length < 2 && two.length < 2) || (one.length === 2 && one === [...two].reverse().join(""));
};

// British -ise, whose stem in American spelling has lost the end, or stems with the same first letter.
const similar = stem => {
  const american = stem.replace(/is$/, "");
  if (american !== stem && isKnown(american)) return [american];
  const { terms, titleterms } = Search._index;
  const all = new Set([...Object.keys(terms), ...Object.keys(titleterms)]);
  return stem.length < 5 ? [] : [...all].filter(other => other[0] === stem[0] && isMisspelt(stem, other));
};

// Pages with both parts of words joined, such as closedloop.
const pagesOfParts = (stem, excluded) => {
  for (let end = 3; end < stem.length - 2; end++) {
    const [first, second] = [...stemsOf([stem.slice(0, end)]), stem.slice(end)];
    if (!isKnown(first) || !isKnown(second)) continue;
    const pages = pagesOf(second, excluded);
    return [...pagesOf(first, excluded)].filter(([page]) => pages.has(page))
      .map(([page, score]) => [page, Math.min(score, pages.get(page))]);
  }
  return [];
};

const scoresOf = (stem, excluded) => {
  const scores = new Map();
  const add = (pages, share) => {
    for (const [page, score] of pages) scores.set(page, Math.max(scores.get(page) ?? 0, share * score));
  };
  if (isKnown(stem)) add(pagesOf(stem, excluded), 1);
  for (const other of synonyms(stem)) add(pagesOf(other, excluded), RELATED);
  if (!scores.size) for (const other of similar(stem)) add(scoresOf(other, excluded), RELATED);
  if (!scores.size) add(pagesOfParts(stem, excluded), 1);
  if (!scores.size) add(pagesOf(stem, excluded), 1); // pages with words of which it is a part
  return scores;
};

// The section of each page whose heading has the most words of the query, unless the title has as many.
const bestSections = words => {
  const wanted = [...words].map(word => [word, ...synonyms(word)]), best = new Map();
  const headings = Object.entries(Search._index.alltitles).flatMap(([heading, places]) => {
    const stems = stemsOf(splitQuery(heading.toLowerCase()));
    const count = wanted.filter(group => group.some(stem => stems.includes(stem))).length;
    return places.map(([page, anchor]) => ({ page, anchor: anchor === null ? "" : `#${anchor}`, count }));
  });
  for (const { page, anchor, count } of headings) {
    const known = best.get(page) ?? { anchor: "", count: 0 };
    if (count > known.count || (count === known.count && !anchor)) best.set(page, { anchor, count });
  }
  return best;
};

Search.performTermsSearch = (words, excluded) => {
  const { docnames, titles, filenames } = Search._index, fillers = stemsOf(wordsIn(FILLERS));
  const sums = new Map(), counts = new Map();
  let whole = 0, size = 0;
  for (const word of words) {
    const scores = fillers.includes(word) ? new Map() : scoresOf(word, excluded);
    if (!scores.size) continue;
    const weight = Math.log(1 + docnames.length / (scores.size + 1));
    whole += weight;
    size += 1;
    for (const [page, score] of scores) {
      sums.set(page, (sums.get(page) ?? 0) + weight * score);
      counts.set(page, (counts.get(page) ?? 0) + 1);
    }
  }
  const sections = bestSections(words);
  return [...sums].filter(([page]) => 2 * counts.get(page) >= size).map(([page, sum]) => {
    const share = FOR_A_FEW.test(docnames[page]) ? 0.5 : 1;
    const score = Math.round(ROUNDED * share * sum / whole) / ROUNDED;
    const anchor = sections.get(page)?.anchor ?? "";
    return [docnames[page], titles[page], anchor, null, score, filenames[page], SearchResultKind.text];
  });
};

// A page that both its keywords and its text find is listed once, with the section.
const KEYWORDS = "#keywords", allResults = Search._performSearch;
Search._performSearch = (...query) => {
  const results = new Map();
  for (const result of allResults(...query).reverse()) {
    const key = `${result[0]} ${result[1]}`, kept = results.get(key);
    if (!kept) results.set(key, result);
    else if (kept[2] === KEYWORDS) kept[2] = result[2];
  }
  return [...results.values()].reverse();
};

// Opened from disk, no page may request another: excerpts come from the texts in `excerpts.js`.
window.fetch = async (place) => ({
  text: async () => {
    const sections = EXCERPTS[place.slice(document.documentElement.dataset.content_root.length).replace(/\.html$/, "")];
    return `<div role="main">${(sections ?? [])
      .map(([anchor, text]) => `<section id="${anchor}">${_escapeHTML(text)}\n</section>`)
      .join("")}</div>`;
  },
});
