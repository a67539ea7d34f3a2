import { type Decimal, max, min, ZERO } from '../../../engine/money/decimal.ts';
import { type Html, html } from '../../../platform/html.ts';
import { addressOf, type Frame } from './frame.ts';
import type { PortalDocuments } from './queries.ts';
import type { List } from './reads.ts';

/** The heading of a page, below the way back to where it is listed. */
export const headOf = (
  frame: Frame,
  title: string,
  { hint, crumb }: { hint?: Html | string | false; crumb?: boolean } = {},
): Html =>
  html`${crumb === true && html`<p class="crumb"><a href="${addressOf(frame, '')}">‹ ${frame.language.words.overview}</a></p>`}
<div class="head"><h1>${title}</h1>${hint && html`<p class="soft">${hint}</p>`}</div>`;

export const badge = (tone: string, text: string): Html => html`<span class="badge ${tone}">${text}</span>`;

export const rowOf = (
  title: string | Html,
  hints: readonly (string | false | null | undefined)[],
  ...how: readonly (Html | false)[]
): Html =>
  html`<div class="row"><div class="what"><strong>${title}</strong>
<span class="soft">${hints.filter((hint) => hint).join(' · ')}</span></div>
<div class="how">${how}</div></div>`;

export const sumOf = (amount: string, hint?: string | false): Html =>
  html`<span class="sum">${amount}${hint && html`<span class="soft">${hint}</span>`}</span>`;

/** Names and figures side by side; one without a figure is left out. */
export const factsOf = (facts: readonly (readonly [string, string | Html | null | undefined | false])[]): Html =>
  html`<dl class="facts">${facts.map(
    ([name, value]) => value && html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`,
  )}</dl>`;

/** The PDF of a document. */
export const fileOf = (frame: Frame, listed: PortalDocuments, { id, number }: { id: string; number: string }): Html =>
  html`<a href="${addressOf(frame, `${listed}/${id}/pdf`)}">PDF<span class="hidden"> ${number}</span></a>`;

export const button = (label: string, { about, style = '' }: { about?: string; style?: string } = {}): Html =>
  html`<button class="button ${style}">${label}${about && html`<span class="hidden"> ${about}</span>`}</button>`;

const METER_WIDTH = 200;

/** How much of a limit is used, as a picture beside its words. */
export function meterOf(used: Decimal, limit: Decimal): Html {
  const part = limit.gt(0) ? max(ZERO, min(used.div(limit), limit.div(limit))) : ZERO;
  const isFull = used.gte(limit);
  return html`<svg class="meter" viewBox="0 0 ${String(METER_WIDTH)} 8" preserveAspectRatio="none" aria-hidden="true"><rect class="rail" width="${String(METER_WIDTH)}" height="8" rx="4"/><rect class="${isFull ? 'full' : 'fill'}" width="${part.times(METER_WIDTH).toFixed(1)}" height="8" rx="4"/></svg>`;
}

/** Ways to the newer and older rows of a list. */
export function waysOf(frame: Frame, list: List<unknown>, query: Readonly<Record<string, string>> = {}): Html | false {
  if (list.page === 1 && !list.hasMore) return false;
  const { words } = frame.language;
  const to = (page: number, text: string) =>
    html`<a href="${addressOf(frame, frame.path, { ...query, page: String(page) })}">${text}</a>`;
  return html`<nav class="pages" aria-label="${words.older}">${list.page > 1 && to(list.page - 1, words.newer)}${list.hasMore && to(list.page + 1, words.older)}</nav>`;
}

/** What stands where there is nothing yet. */
export const nothing = (text: string): Html => html`<p class="card alone soft">${text}</p>`;
