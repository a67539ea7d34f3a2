import { bookedCredits, creditsOfMoney } from '../../../../engine/credits/wallet-money.ts';
import { cents } from '../../../../engine/money/cents.ts';
import { exponentOf } from '../../../../engine/money/currency.ts';
import { type Decimal, decimal } from '../../../../engine/money/decimal.ts';
import { toMainUnit, toSmallestUnit } from '../../../../engine/money/units.ts';
import type { Config } from '../../../../platform/config.ts';
import { type Html, html } from '../../../../platform/html.ts';
import { worthOf } from '../../../credits/wallet-transactions/movements.ts';
import type { WalletRow } from '../../../credits/wallets/queries.ts';
import { fill } from '../../../messaging/documents/number-and-date-formats.ts';
import { addressOf, type Frame, formOf, framed } from '../frame.ts';
import { button, headOf } from '../parts.ts';
import type { FaultName } from '../texts/portal-texts.ts';

/** A top-up as it was asked for, and why it was refused. */
export interface TopUpTry {
  amount: string;
  fault: FaultName;
}

/** Bounds of a top-up, in cents of the wallet's currency. Rule: portal.md#top-ups. */
export interface TopUpBounds {
  leastCents: number;
  mostCents: number;
}

export function topUpBounds(
  { currency, paid_top_up_min_amount_cents: min, paid_top_up_max_amount_cents: max }: WalletRow,
  { PORTAL_TOP_UP_MAX }: Pick<Config, 'PORTAL_TOP_UP_MAX'>,
): TopUpBounds {
  const most = toSmallestUnit(decimal(PORTAL_TOP_UP_MAX), exponentOf(currency)).toNumber();
  return { leastCents: Math.max(1, min ?? 1), mostCents: max ?? most };
}

/** An amount as people type it: digits, and a point or comma before the digits of the smaller unit. */
const AMOUNT = /^\d{1,12}(?:[.,](\d{1,4}))?$/;

/** What was typed, in cents; or what is wrong with it. */
export function readAmount(
  text: string,
  { currency }: Pick<WalletRow, 'currency'>,
  { leastCents, mostCents }: TopUpBounds,
): { amountCents: number } | { fault: FaultName } {
  const typed = text.replace(/[\s\u00a0\u202f'’]/g, '');
  if (typed === '') return { fault: 'mandatory' };
  const [, fraction = ''] = AMOUNT.exec(typed) ?? [];
  const exponent = exponentOf(currency);
  if (!AMOUNT.test(typed) || fraction.length > exponent) return { fault: 'amount' };
  const amountCents = toSmallestUnit(decimal(typed.replace(',', '.')), exponent);
  if (amountCents.lt(leastCents)) return { fault: 'tooSmall' };
  return amountCents.gt(mostCents) ? { fault: 'tooLarge' } : { amountCents: amountCents.toNumber() };
}

/** The credits that an amount buys, and the amount that they are booked with. */
export function creditsFor(amountCents: number, wallet: WalletRow): { credits: Decimal; amountCents: number } {
  const worth = worthOf(wallet);
  const { credits } = creditsOfMoney(cents(amountCents), worth);
  return bookedCredits(credits, worth);
}

/** The form that asks for an amount; a fault stands below its field. */
export function topUpForm(frame: Frame, wallet: WalletRow, tried?: TopUpTry): Html {
  const { words } = frame.language;
  const format = frame.formatOf(wallet.currency);
  const { leastCents, mostCents } = frame.bounds(wallet);
  const values = { min: format.amount(leastCents), max: format.amount(mostCents) };
  const wrong = tried && fill(words.faults[tried.fault], values);
  return html`<h2 id="top-up">${words.topUp}</h2>
<div class="card alone">${formOf(
    frame,
    `wallets/${wallet.id}/top_up`,
    html`<div class="fields"><label>${fill(words.howMuch, { currency: wallet.currency })} <span class="soft">${fill(words.between, values)}</span>
<input name="amount" inputmode="decimal" autocomplete="off" required maxlength="20" value="${tried?.amount ?? ''}"${tried && { html: ' aria-invalid="true" aria-describedby="fault-amount" autofocus' }}></label></div>
${wrong && html`<p class="fault" id="fault-amount">${wrong}</p>`}
<div class="deeds">${button(words.review)}</div>`,
  )}</div>`;
}

/** What the customer confirms: what it buys, for how much, and how it pays. */
export function reviewPage(
  frame: Frame,
  wallet: WalletRow,
  { amountCents, nonce, method }: { amountCents: number; nonce: string; method: string | undefined },
): string {
  const { words, documents } = frame.language;
  const format = frame.formatOf(wallet.currency);
  const booked = creditsFor(amountCents, wallet);
  const amount = format.amount(booked.amountCents);
  const typed = toMainUnit(decimal(amountCents), exponentOf(wallet.currency)).toFixed();
  return framed(
    frame,
    words.reviewTitle,
    html`${headOf(frame, words.reviewTitle, { crumb: true })}
<div class="card alone"><table><tbody>
<tr><th scope="row">${documents.item}</th><td>${wallet.name || documents.prepaidCredits}</td></tr>
<tr><th scope="row">${words.youGet}</th><td>${fill(words.credits, { credits: format.units(booked.credits) })}</td></tr>
<tr><th scope="row">${documents.amount}</th><td class="sum">${amount}</td></tr>
</tbody></table>
<p class="soft">${method === undefined ? words.payNext : fill(words.chargedTo, { method })} ${words.creditsWhenPaid}</p>
<div class="deeds">${formOf(
      frame,
      `wallets/${wallet.id}/top_up/confirm`,
      html`<input type="hidden" name="amount" value="${typed}">${button(fill(words.buyFor, { amount }))}`,
      { nonce, leaves: true },
    )}<a href="${addressOf(frame, `wallets/${wallet.id}`)}">${words.change}</a></div></div>`,
  );
}
