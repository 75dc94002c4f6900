// The words of the method, explained where they stand.

import { make } from "./dom";

const TERMS = {
  "local cluster":
    "Samples that climb to the same peak: each moves to a neighbour in denser ground, until none is denser.",
  peak: "A sample in denser ground than all its neighbours. Every local cluster has one.",
  kept: "An edge inside a cluster: neighbours lie on both sides of the border, and the clustering joins the two.",
  cut: "An edge between two clusters: neighbours lie on both sides, but the clustering separates them here.",
  bridge:
    "A connection that no pair of neighbours carries. It only leads from one island of samples to the nearest other.",
  "boundary pair": "Two samples that are neighbours and lie in different local clusters.",
  membership:
    "How firmly a sample belongs to its cluster, from 0 to 1: the share of its neighbourhood that leads there.",
  "log intensity": "How dense the ground around a sample is, as a logarithm.",
  "outlier score": "How far out a sample is among its neighbours, from 0 to 1.",
  climb: "The path from the sample to the peak, always to denser ground.",
} as const;

export type Term = keyof typeof TERMS;

/** A word with its explanation on hover, focus or tap. */
export function term(name: Term, shown: string = name): HTMLElement {
  return make("span", { class: "term", tabindex: "0", "data-tip": TERMS[name] }, shown);
}

const WORDS = /(local cluster|boundary pair|bridge)(s?)/;

/** A text in which every word of the method is explained where it first stands. */
export function withTerms(text: string): HTMLElement {
  const told = new Set<string>();
  const parts: (string | HTMLElement)[] = [];
  let rest = text;
  for (let found = WORDS.exec(rest); found; found = WORDS.exec(rest)) {
    const [shown, name] = found;
    parts.push(rest.slice(0, found.index), told.has(name) ? shown : term(name as Term, shown));
    told.add(name);
    rest = rest.slice(found.index + shown.length);
  }
  return make("p", {}, ...parts, rest);
}

/** Words that are in the page from the beginning. */
export function explainTerms(): void {
  for (const element of document.querySelectorAll<HTMLElement>("[data-term]")) {
    element.replaceChildren(term(element.dataset.term as Term, element.textContent!));
  }
}
