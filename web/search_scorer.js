/* Scores results of the search of the site; KEYWORDS and WEIGHTS are put in by stage.py from plan.py. */
var Scorer = (() => {
  const bare = (word) => word.toLowerCase().replace(/(?<=..)s$/, "");
  const asked = () =>
    new Set((new URLSearchParams(window.location.search).get("q") ?? "").split(/[^\p{L}\p{N}_]+/u).map(bare));
  const meant = (page) => {
    const words = asked();
    const fits = (KEYWORDS[page] ?? []).filter((phrase) => phrase.split(" ").every((word) => words.has(bare(word))));
    return Math.max(0, ...fits.map((phrase) => phrase.split(" ").length));
  };
  const weight = (page) => WEIGHTS[page] ?? WEIGHTS[page.split("/")[0]] ?? 1;
  return {
    score: ([page, , , , score]) => score * weight(page) + 100 * meant(page),
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
  };
})();
