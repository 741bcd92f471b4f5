// SPDX-License-Identifier: BSD-3-Clause
// Sphinx's search wants all words of a query on a page.  Here a page needs half of them, and rare words, headings and
// keywords weigh more; pages for a few readers count half.  `searched.py` ranks in the same way.
const HEADING = 15, ROUNDED = 1000, FOR_A_FEW = /^(developers\/|background\/sources\/|reference\/changelog)/;
const pagesWith = Search.performTermsSearch;

const pagesByKeyword = word => {
  const stemmer = new Stemmer(), pages = [];
  for (const [entry, places] of Object.entries(Search._index.indexentries))
    if (splitQuery(entry).some(part => stemmer.stemWord(part) === word))
      pages.push(...places.filter(([, , main]) => main).map(([page]) => page));
  return pages;
};

Search.performTermsSearch = (words, excluded) => {
  const { docnames, titles, filenames } = Search._index;
  const sums = new Map(), counts = new Map();
  let whole = 0;
  for (const word of words) {
    const scores = new Map(pagesWith(new Set([word]), excluded).map(result => [docnames.indexOf(result[0]), result[4]]));
    for (const page of pagesByKeyword(word)) scores.set(page, HEADING);
    const weight = Math.log(1 + docnames.length / (scores.size + 1));
    whole += weight;
    for (const [page, score] of scores) {
      sums.set(page, (sums.get(page) ?? 0) + weight * score);
      counts.set(page, (counts.get(page) ?? 0) + 1);
    }
  }
  return [...sums].filter(([page]) => 2 * counts.get(page) >= words.size).map(([page, sum]) => {
    const share = FOR_A_FEW.test(docnames[page]) ? 0.5 : 1;
    const score = Math.round(ROUNDED * share * sum / whole) / ROUNDED;
    return [docnames[page], titles[page], "", null, score, filenames[page], SearchResultKind.text];
  });
};
