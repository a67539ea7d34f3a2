import { localDate } from '../../../../engine/calendar/local-day.ts';
import { exponentOf } from '../../../../engine/money/currency.ts';
import { decimal } from '../../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../../engine/money/units.ts';
import type { Context } from '../../../../platform/context.ts';
import { type Html, html } from '../../../../platform/html.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { findWallet, type WalletRow } from '../../../credits/wallets/queries.ts';
import { fill } from '../../../messaging/documents/number-and-date-formats.ts';
import { barChart } from '../chart.ts';
import { type Frame, formOf, framed, may } from '../frame.ts';
import { badge, button, factsOf, headOf, nothing, waysOf } from '../parts.ts';
import { type List, listOf } from '../reads.ts';
import { listDailyChanges, listPortalTransactions, type PortalTransaction } from './queries.ts';
import { type TopUpTry, topUpForm } from './top-up.ts';

/** How many days of its balance are drawn. */
const DAYS = 30;

/**
 * A wallet of a customer by the id in an address. One statement.
 *
 * @throws Refusal 404, of any other
 */
export async function getOwnWallet(ctx: Context, { customer, settings }: Frame, id: string): Promise<WalletRow> {
  const wallet = settings.show.wallets ? await findWallet(ctx, { id }) : undefined;
  if (wallet?.customer_id !== customer.id) throw refuse.notFound('wallet');
  return wallet;
}

/**
 * A wallet: what is left, its last days, what came in and went out, and the way to buy more. Three statements.
 *
 * tried  a top-up that was refused, with its faults
 * Rule: portal.md#wallets.
 */
export async function walletPage(
  ctx: Context,
  frame: Frame,
  { id, page, said, tried }: { id: string; page: number; said?: Html; tried?: TopUpTry },
): Promise<string> {
  const wallet = await getOwnWallet(ctx, frame, id);
  const { zone } = frame.customer;
  const today = localDate(ctx.now(), zone);
  const first = today.subtract({ days: DAYS - 1 });
  const since = first.toZonedDateTime(zone).toInstant();
  const [transactions, changes] = await Promise.all([
    listOf(page, (slice) => listPortalTransactions(ctx, wallet.id, slice)),
    listDailyChanges(ctx, wallet.id, { since, zone }),
  ]);
  const { words, documents } = frame.language;
  const name = wallet.name || documents.prepaidCredits;
  const format = frame.formatOf(wallet.currency);
  const changeOf = new Map(changes.map(({ on, change_cents }) => [on.toString(), change_cents]));
  // From what is there now, back through what changed.
  let cents: number = wallet.balance_cents;
  const bars = Array.from({ length: DAYS }, (_, back) => {
    const on = today.subtract({ days: back });
    const atEnd = Math.max(0, cents);
    cents -= changeOf.get(on.toString()) ?? 0;
    const label = on.toLocaleString(frame.language.locale, { day: 'numeric', month: 'short' });
    return { label, value: toMainUnit(decimal(atEnd), exponentOf(wallet.currency)), shown: format.amount(atEnd) };
  }).reverse();
  const isActive = wallet.status === 'active';
  return framed(
    frame,
    name,
    html`${headOf(frame, name, { crumb: true })}
${said}<div class="card alone">${standingOf(frame, wallet)}
${barChart(
  bars,
  {
    id: 'balance',
    title: words.balancePerDay,
    description: fill(words.balanceHint, {
      days: format.days(DAYS),
      amount: format.amount(Math.max(0, wallet.balance_cents)),
    }),
    asTable: words.asTable,
    step: words.day,
    value: words.balance,
  },
  (value) => format.price(value),
)}</div>
${isActive && may(frame, 'top_up') && topUpForm(frame, wallet, tried)}
<h2>${words.transactions}</h2>
${transactions.rows.length > 0 ? transactionTable(frame, wallet, transactions) : nothing(words.nothing)}
${waysOf(frame, transactions)}`,
  );
}

function standingOf(frame: Frame, wallet: WalletRow): Html {
  const { words } = frame.language;
  const format = frame.formatOf(wallet.currency);
  const left = Math.max(0, wallet.ongoing_balance_cents);
  const beyond = -Math.min(0, wallet.ongoing_balance_cents);
  return html`${factsOf([
    [
      words.available,
      html`${format.amount(left)}${beyond > 0 && html`<span class="soft">${fill(words.beyond, { amount: format.amount(beyond) })}</span>`}`,
    ],
    [
      words.balance,
      html`${format.amount(Math.max(0, wallet.balance_cents))}<span class="soft">${fill(words.credits, { credits: format.units(wallet.credits_balance) })}</span>`,
    ],
    [words.validUntil, wallet.expiration_at && frame.day(wallet.expiration_at)],
  ])}${wallet.status === 'terminated' && html`<p>${badge('', words.states.terminated)}</p>`}`;
}

function transactionTable(frame: Frame, wallet: WalletRow, { rows }: List<PortalTransaction>): Html {
  const { words, documents } = frame.language;
  return html`<div class="card list"><table>
<thead><tr><th scope="col">${words.day}</th><th scope="col" class="text">${documents.item}</th><th scope="col">${documents.amount}</th><th scope="col"><span class="hidden">${words.deeds}</span></th></tr></thead>
<tbody>${rows.map((row) => transactionLine(frame, wallet, row))}</tbody></table></div>`;
}

function transactionLine(frame: Frame, wallet: WalletRow, row: PortalTransaction): Html {
  const { words, documents } = frame.language;
  const format = frame.formatOf(wallet.currency);
  const sign = row.transaction_type === 'inbound' ? '+' : '−';
  const state =
    row.status === 'failed'
      ? badge('bad', words.payment.failed)
      : row.status === 'pending' && badge('wait', words.states.incomplete);
  const isToPay = row.transaction_status === 'purchased' && row.status !== 'settled' && row.has_invoice;
  return html`<tr><th scope="row">${frame.day(row.created_at)}</th>
<td class="text">${row.name || words.kinds[row.transaction_status]} ${state}${row.invoice_number && html`<span class="soft">${documents.titles.invoice} ${row.invoice_number}</span>`}</td>
<td class="sum">${sign}${format.amount(row.amount_cents)}<span class="soft">${fill(words.credits, { credits: format.units(row.credit_amount) })}</span></td>
<td class="deed"><div class="acts">${isToPay && may(frame, 'pay') && formOf(frame, `wallets/${wallet.id}/pay`, html`<input type="hidden" name="transaction" value="${row.id}">${button(words.pay, { style: 'small', about: format.amount(row.amount_cents) })}`, { leaves: true })}</div></td></tr>
`;
}
