import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../../platform/context.ts';
import { type Html, html } from '../../../../platform/html.ts';
import { methodName } from '../../../customers/payment-methods/method-name.ts';
import { listMethods, type MethodRow } from '../../../customers/payment-methods/queries.ts';
import { fill } from '../../../messaging/documents/number-and-date-formats.ts';
import { type Frame, formOf, framed, may } from '../frame.ts';
import { badge, button, headOf, nothing, rowOf } from '../parts.ts';

/** How many stored methods are shown; nobody has so many. */
const MOST = 50;

/** Cards and debits of a customer, the default one, and what may be done with them. Two statements. */
export async function methodsPage(ctx: Context, frame: Frame, { said }: { said?: Html }): Promise<string> {
  const { rows } = await listMethods(ctx, frame.customer.id, { page: 1, per_page: MOST });
  const { words } = frame.language;
  const mayChange = may(frame, 'payment_methods');
  return framed(
    frame,
    words.methods,
    html`${headOf(frame, words.methods)}
${said}${rows.length > 0 ? html`<ul class="card">${rows.map((row) => html`<li>${methodRow(frame, row, mayChange)}</li>\n`)}</ul>` : nothing(words.noMethods)}
${mayChange && html`<div class="deeds">${formOf(frame, 'payment_methods/new', button(words.addMethod), { leaves: true })}</div>`}`,
  );
}

function methodRow(frame: Frame, row: MethodRow, mayChange: boolean): Html {
  const { words } = frame.language;
  const name = methodName(row, frame.language.words);
  const { expiry } = row.details as { expiry?: string };
  const deed = (what: 'default' | 'remove', label: string) =>
    formOf(frame, `payment_methods/${row.id}/${what}`, button(label, { about: name, style: 'second small' }));
  return rowOf(
    name,
    [
      expiry !== undefined &&
        /^\d{4}-\d\d$/.test(expiry) &&
        fill(words.validUntilMonth, { date: monthOf(frame, expiry) }),
    ],
    row.is_default && badge('good', words.defaultMethod),
    mayChange && !row.is_default && deed('default', words.makeDefault),
    mayChange && deed('remove', words.remove),
  );
}

const monthOf = ({ language }: Frame, month: string): string =>
  Temporal.PlainDate.from(`${month}-01`).toLocaleString(language.locale, { month: '2-digit', year: 'numeric' });
