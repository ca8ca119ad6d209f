// The score of a result of the site's search: pages that say how to do something come before lists and logs.
const LISTS = ["reference", "changelog", "contributing", "deviations", "silicon", "features", "architecture", "gallery/"];

var Scorer = {
  score: ([page, _title, _anchor, _text, score]) => (LISTS.some((list) => page.startsWith(list)) ? score / 20 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
