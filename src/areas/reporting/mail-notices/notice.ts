import type { Currency } from '../../../engine/money/currency.ts';
import type { Context } from '../../../platform/context.ts';
import type { BillingEntityId, CustomerId } from '../../../platform/ids.ts';
import { mailAddressesOf, mailedName } from '../../customers/customers/mail-addressee.ts';
import { type CustomerRow, readCustomer } from '../../customers/customers/queries.ts';
import { effectiveSettings, type PortalPower, type StoredSettings } from '../../customers/portal-settings/settings.ts';
import { type Format, fill, formatOf } from '../../messaging/documents/number-and-date-formats.ts';
import { languageOf } from '../../messaging/documents/texts/by-locale.ts';
import { type MailBlock, type MailContent, type MailLink, oneLine } from '../../messaging/mails/compose-mail.ts';
import { readMailIssuer } from '../../messaging/mails/mail-issuer.ts';
import { button, facts, gap, remark } from '../../messaging/mails/mail-page.ts';
import { mailTextsOf } from '../../messaging/mails/texts/by-locale.ts';
import { payTextsOf } from '../../messaging/pay-texts/by-locale.ts';

/** Something that is told by mail: to whom, about what kind of record, and what it says, read once it is to be sent. */
export interface Notice {
  billingEntityId: BillingEntityId;
  to: string[];
  resourceType: string;
  /** Of a preview: without what would have to be billed for it first. */
  content(of?: { isPreview: boolean }): Promise<MailContent>;
}

/**
 * @param occasion why it is told, as the unique key of the mail has it; absent: what a preview shows
 */
export type FindNotice = (ctx: Context, id: string, occasion: string | undefined) => Promise<Notice | undefined>;

/** Who writes to whom, in which language. */
export type About = Pick<MailContent, 'locale' | 'issuer' | 'customer'>;

/** Who is told about a record of a customer, in which language and zone. */
export interface Reader {
  customer: CustomerRow;
  billingEntityId: BillingEntityId;
  to: string[];
  about(): Promise<{ about: About; zone: string; formatOf(currency: string): Format }>;
}

/** @param ownEntityId the issuer of the record; null: its customer's */
export async function readReader(ctx: Context, id: CustomerId, ownEntityId: BillingEntityId | null): Promise<Reader> {
  const customer = await readCustomer(ctx, id);
  const billingEntityId = ownEntityId ?? customer.billing_entity_id;
  return {
    customer,
    billingEntityId,
    to: mailAddressesOf(customer),
    async about() {
      const issuer = await readMailIssuer(ctx, billingEntityId);
      const { locale } = languageOf(customer.document_locale, issuer.document_locale);
      const zone = customer.timezone ?? issuer.timezone;
      return {
        about: { locale, issuer, customer: { id: customer.id, name: mailedName(customer) } },
        zone,
        formatOf: (currency) => formatOf(locale, currency as Currency, zone),
      };
    },
  };
}

/** Whether an issuer lets its customers do something on their pages. */
export async function isAllowed(
  { db, organizationId }: Pick<Context, 'db' | 'organizationId'>,
  billingEntityId: BillingEntityId,
  power: PortalPower,
): Promise<boolean> {
  const [row] = await db<{ settings: StoredSettings }[]>`
    select settings from portal_settings
    where organization_id = ${organizationId} and billing_entity_id = ${billingEntityId}`;
  return effectiveSettings(row?.settings ?? {}).allow[power];
}

/** How long a link works: of a customer's pages in hours, of a page where something is paid in days. */
export type LinkLife = { hours: number } | { days: number };

/** Where something can be done, and how long the link works. */
export function linkBlock(locale: About['locale'], { mark, label }: MailLink, life: LinkLife): MailBlock {
  const worksFor =
    'hours' in life
      ? fill(mailTextsOf(locale).worksFor, { hours: String(life.hours) })
      : fill(payTextsOf(locale).mail.worksFor, { days: String(life.days) });
  return { text: `${label}:\n${mark}\n${worksFor}`, html: [button(mark, label), remark(worksFor)] };
}

/** Names and what they stand for, below a button unless they come first; nothing where there are none. */
export const factsBlock = (rows: readonly (readonly [string, string])[], { isFirst = false } = {}): MailBlock => ({
  text: rows.map(([name, value]) => oneLine(`${name}: ${value}`)).join('\n'),
  html: rows.length === 0 ? [] : [!isFirst && gap, facts(rows)],
});
