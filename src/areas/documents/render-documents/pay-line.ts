import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Config } from '../../../platform/config.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { DocumentModel } from '../../../platform/documents/model.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import { fill, formatOf } from '../../messaging/documents/number-and-date-formats.ts';
import type { Language } from '../../messaging/documents/texts/by-locale.ts';
import { payLink } from '../../messaging/mails/pay-link.ts';
import { payTextsOf } from '../../messaging/pay-texts/by-locale.ts';
import { leftToPay } from './invoice-model.ts';

/**
 * The page of an invoice with a link to where it is paid, below the amount that is due; without it where nothing is due
 * or the customer is not the one who pays. Rule: pay-links.md#in-documents.
 */
export async function withPayLine(
  { db, config }: Scope & { config: Config },
  model: DocumentModel,
  { invoice, language: { locale } }: { invoice: InvoiceRow; language: Language },
): Promise<DocumentModel> {
  if (model.headline === null || leftToPay(invoice) === 0) return model;
  if (invoice.self_billed || invoice.status !== 'finalized') return model;
  const now = realNow();
  const url = await payLink({ db, config }, { type: 'Invoice', id: invoice.id }, now);
  const lastDay = now
    .add({ hours: 24 * config.PAY_LINK_DAYS })
    .toZonedDateTimeISO(invoice.timezone)
    .toPlainDate();
  const date = formatOf(locale, invoice.currency, invoice.timezone).date(lastDay);
  return {
    ...model,
    headline: { ...model.headline, link: { url, text: fill(payTextsOf(locale).payHereUntil, { date }) } },
  };
}
