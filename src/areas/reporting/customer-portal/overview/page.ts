import type { Temporal } from 'temporal-polyfill';
import { max, ZERO } from '../../../../engine/money/decimal.ts';
import type { Context } from '../../../../platform/context.ts';
import { type Html, html } from '../../../../platform/html.ts';
import { fill } from '../../../messaging/documents/number-and-date-formats.ts';
import { subscriptionName } from '../../../subscriptions/subscriptions/printed-name.ts';
import type { SubscriptionShown } from '../../../subscriptions/subscriptions/queries.ts';
import { invoiceTable, payForm } from '../documents/invoices.ts';
import { addressOf, type Frame, formOf, framed, may, nameOf } from '../frame.ts';
import { badge, button, factsOf, headOf, nothing, rowOf, sumOf, waysOf } from '../parts.ts';
import type { PortalWallet } from '../queries.ts';
import { datesOf } from '../subscription-dates.ts';
import { daysLeftOf, planPrice, projectionOf } from '../usage/page.ts';
import { type Overview, readOverview } from './reads.ts';

const STATE_BADGES = { active: 'good', pending: '', incomplete: 'wait', terminated: '', canceled: '' } as const;

/** The first page: what is due, subscriptions with usage, what runs out soon, credits, the newest invoices. */
export async function overviewPage(
  ctx: Context,
  frame: Frame,
  { page, said }: { page: number; said?: Html },
): Promise<string> {
  const overview = await readOverview(ctx, frame, page);
  return framed(frame, frame.language.words.title, overviewOf(frame, overview, said));
}

function overviewOf(frame: Frame, overview: Overview, said: Html | undefined): Html {
  const { words, documents } = frame.language;
  const { subscriptions, wallets, invoices } = overview;
  const isEmpty = subscriptions.rows.length + wallets.length + invoices.length === 0 && overview.balances.length === 0;
  const metadata = frame.customer.metadata.map(({ key, value }) => `${key}: ${value}`).join(' · ');
  return html`${headOf(frame, nameOf(frame.customer), { hint: metadata })}
${said}${isEmpty ? nothing(words.nothingAtAll) : dueOf(frame, overview)}
${soonOf(frame, overview)}
${
  subscriptions.rows.length > 0 &&
  html`<h2>${words.subscriptions}</h2>
${subscriptions.rows.map((each) => subscriptionCard(frame, overview, each))}
${waysOf(frame, subscriptions)}`
}
${wallets.length > 0 && html`<h2>${documents.prepaidCredits}</h2><ul class="card">${wallets.map((wallet) => html`<li>${walletRow(frame, wallet)}</li>\n`)}</ul>`}
${
  invoices.length > 0 &&
  html`<h2>${words.invoices}</h2>
${invoiceTable(frame, invoices)}
${overview.hasMoreInvoices && html`<p class="pages"><a href="${addressOf(frame, 'invoices')}">${words.allInvoices}</a></p>`}`
}`;
}

/** What is to be paid, once: of it what is overdue beside, and the buttons. */
function dueOf(frame: Frame, { balances, overdue, invoices }: Overview): Html | Html[] {
  const { words, documents } = frame.language;
  if (balances.length === 0) return html`<div class="card due"><div><b>${frame.pay.nothingDue.title}</b></div></div>`;
  return balances.map((balance) => {
    const format = frame.formatOf(balance.currency);
    const { due_amount_cents: due, overdue_amount_cents: late, credit_notes_amount_cents: credit } = balance;
    const groups = overdue.filter(({ currency }) => currency === balance.currency);
    const payable = invoices.filter((each) => each.currency === balance.currency && each.due_amount_cents > 0);
    const isOne = payable.length === 1 && payable[0]!.due_amount_cents === due;
    const state =
      late > 0 &&
      html`<span class="bad">${late >= due ? words.overdue : fill(words.overduePart, { amount: format.amount(late) })}</span>`;
    return html`<div class="card due"><div>${due > 0 ? html`<span class="soft">${words.due}</span><b>${format.amount(due)}</b>${state}` : html`<b>${frame.pay.nothingDue.title}</b>`}
${credit > 0 && html`<span class="soft">${documents.creditNotes}: ${fill(words.left, { amount: format.amount(credit) })}</span>`}</div>
${isOne ? payForm(frame, payable[0]!, '') : may(frame, 'pay') && groups.map((group) => payOverdue(frame, group))}</div>`;
  });
}

/** Pays the overdue invoices of one issuer in one currency together. */
function payOverdue(frame: Frame, group: Overview['overdue'][number]): Html {
  const amount = frame.formatOf(group.currency).amount(group.amount_cents);
  return formOf(
    frame,
    'pay_overdue',
    html`<input type="hidden" name="currency" value="${group.currency}"><input type="hidden" name="billing_entity" value="${group.billing_entity_code}">${button(fill(frame.language.words.payOverdue, { amount }))}`,
    { leaves: true },
  );
}

function subscriptionCard(frame: Frame, overview: Overview, row: SubscriptionShown): Html {
  const { words } = frame.language;
  const name = subscriptionName(row);
  const plan = row.plan_invoice_display_name ?? row.plan_name;
  const facts = { subscriptions: overview.subscriptions, now: frame.now };
  const dates = datesOf(row, facts).map(({ text, on }) => fill(words[text], { date: frame.date(on) }));
  const status = row.status as keyof typeof words.states;
  const standing = overview.usage?.get(row.id);
  const isActive = row.status === 'active';
  const title = isActive ? html`<a href="${addressOf(frame, `usage/${row.id}`)}">${name}</a>` : html`${name}`;
  return html`<section class="card"><header><h3>${title}</h3>${badge(STATE_BADGES[status], words.states[status])}</header>
<div class="body"><p class="soft">${[name !== plan && plan, isActive && planPrice(frame, row), ...dates].filter(Boolean).join(' · ')}</p>
${isActive && overview.usage === null && html`<p class="soft">${words.usageUnknown}</p>`}
${
  standing &&
  standing.charges.length > 0 &&
  factsOf([
    [words.usage, frame.formatOf(row.plan_amount_currency).amount(standing.amountCents)],
    [
      words.projected,
      frame.settings.show.projection && projectionOf(frame, frame.formatOf(row.plan_amount_currency), standing),
    ],
    [words.daysLeft, frame.formatOf(row.plan_amount_currency).days(daysLeftOf(standing))],
  ])
}</div></section>
`;
}

/** How far ahead an end is worth a warning. */
const SOON_DAYS = 30;

const isSoon = (frame: Frame, at: Temporal.Instant | null): at is Temporal.Instant =>
  at !== null && at.since(frame.now).total('days') <= SOON_DAYS;

/** Subscriptions and credits that end within a month, and credits that are used up. */
function soonOf(frame: Frame, { subscriptions, wallets }: Overview): Html | false {
  const { words } = frame.language;
  const ending = subscriptions.rows
    .filter(({ status, ending_at }) => status === 'active' && isSoon(frame, ending_at))
    .map((row): [Html, string] => [
      html`<a href="${addressOf(frame, `usage/${row.id}`)}">${subscriptionName(row)}</a>`,
      fill(words.endsOn, { date: frame.day(row.ending_at!) }),
    ]);
  const low = wallets.flatMap((wallet): [Html, string][] => {
    const name = walletLink(frame, wallet);
    const format = frame.formatOf(wallet.currency);
    if (wallet.ongoing_balance_cents <= 0 && wallet.balance_cents >= 0) return [[name, words.usedUp]];
    return isSoon(frame, wallet.expiration_at)
      ? [
          [
            name,
            `${fill(words.left, { amount: format.amount(wallet.ongoing_balance_cents) })} · ${fill(words.expiresOn, { date: frame.day(wallet.expiration_at) })}`,
          ],
        ]
      : [];
  });
  const all = [...ending, ...low];
  if (all.length === 0) return false;
  return html`<h2>${words.soon}</h2>
<ul class="card">${all.map(([name, what]) => html`<li>${rowOf(name, [what])}</li>\n`)}</ul>`;
}

const walletLink = (frame: Frame, { id, name }: PortalWallet): Html =>
  html`<a href="${addressOf(frame, `wallets/${id}`)}">${name || frame.language.documents.prepaidCredits}</a>`;

/** Credits that are left; what usage takes beyond them is said apart, and no balance is below zero. */
export function walletRow(frame: Frame, wallet: PortalWallet): Html {
  const { words } = frame.language;
  const format = frame.formatOf(wallet.currency);
  const left = Math.max(0, wallet.ongoing_balance_cents);
  const beyond = -Math.min(0, wallet.ongoing_balance_cents);
  return rowOf(
    walletLink(frame, wallet),
    [
      beyond > 0 && fill(words.beyond, { amount: format.amount(beyond) }),
      wallet.expiration_at && fill(words.expiresOn, { date: frame.day(wallet.expiration_at) }),
    ],
    sumOf(
      format.amount(left),
      fill(words.credits, { credits: format.units(max(ZERO, wallet.credits_ongoing_balance)) }),
    ),
  );
}
