import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId } from '../../../platform/ids.ts';
import { withoutMarks } from './pay-link.ts';
import { type TemplateName, templateOf } from './templates.ts';

/** Who a mail comes from, as it is shown and as it is sent. */
export interface MailIssuer {
  billing_entity_id: BillingEntityId;
  /** The legal name, else the name. */
  name: string;
  email: string | null;
  logo_url: string | null;
  document_locale: string;
  timezone: string;
  /** `#rrggbb` of the seller's pages; null: ours. */
  accent_color: string | null;
  /** Address and tax number, as they stand below a mail. */
  legal: string[];
}

/** The issuer of a customer's mails. */
export async function readMailIssuer({ db, organizationId }: Scope, id: BillingEntityId): Promise<MailIssuer> {
  const [row] = await db<MailIssuer[]>`
    select entity.id as billing_entity_id, coalesce(nullif(entity.legal_name, ''), entity.name) as name,
      nullif(entity.email, '') as email, entity.logo_url, entity.document_locale, entity.timezone,
      portal.settings ->> 'accent_color' as accent_color,
      array_remove(array[
        nullif(concat_ws(', ', nullif(entity.address_line1, ''), nullif(entity.address_line2, ''),
          nullif(concat_ws(' ', nullif(entity.zipcode, ''), nullif(entity.city, '')), ''),
          nullif(entity.state, ''), nullif(entity.country, '')), ''),
        nullif(entity.tax_identification_number, '')
      ], null) as legal
    from billing_entities entity
    left join portal_settings portal
      on portal.organization_id = entity.organization_id and portal.billing_entity_id = entity.id
    where entity.organization_id = ${organizationId} and entity.id = ${id}`;
  return { ...row!, name: withoutMarks(row!.name) };
}

/** Whether a billing entity has mails of this template sent. Rule: mails.md#settings. */
export async function isMailOn(
  { db, organizationId }: Pick<Context, 'db' | 'organizationId'>,
  billingEntityId: BillingEntityId,
  name: TemplateName,
): Promise<boolean> {
  if (templateOf(name).setting === 'always') return true;
  const [row] = await db<{ is_on: boolean | null }[]>`
    select (templates -> ${name})::boolean as is_on from mail_settings
    where organization_id = ${organizationId} and billing_entity_id = ${billingEntityId}`;
  return row?.is_on ?? templateOf(name).isOn;
}
