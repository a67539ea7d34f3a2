import type { Context } from '../../../../platform/context.ts';
import type { CustomerId } from '../../../../platform/ids.ts';
import { upsertCustomer } from '../../../customers/customers/commands.ts';
import { CustomerInput } from '../../../customers/customers/schema.ts';
import { DETAIL_FIELDS } from '../details/fields.ts';
import type { FaultName } from '../texts/portal-texts.ts';
import { lockAllowed } from './allowed.ts';
import { mailOfChange } from './mails.ts';
import { done, type PortalOutcome, refused } from './outcome.ts';
import { isVatNumber } from './vat-numbers.ts';

/** Changes of billing data by one customer within a day. */
const MOST_A_DAY = 10;

const FAULTS: Readonly<Record<string, FaultName>> = {
  value_is_mandatory: 'mandatory',
  value_is_too_long: 'tooLong',
  invalid_email_format: 'email',
};

/**
 * Changes the billing data that the seller lets its customers change. Issued documents stay as they are. A former mail
 * address is told that another one gets the invoices now.
 *
 * @throws Refusal of the customer's own command
 * Rule: portal.md#billing-data.
 */
export async function changeDetails(
  ctx: Context,
  input: { customer_id: CustomerId; values: Readonly<Record<string, string>> },
): Promise<PortalOutcome> {
  const { customer, settings } = await lockAllowed(ctx, input.customer_id, 'billing_data');
  const allowed = DETAIL_FIELDS.filter(({ of }) => settings.billing_data_fields.includes(of));
  const sent = Object.fromEntries(
    allowed.flatMap(({ name }) => (input.values[name] === undefined ? [] : [[name, input.values[name].trim()]])),
  );
  const changed = Object.fromEntries(
    Object.entries(sent).filter(([name, text]) => text !== String(customer[name as 'name'] ?? '')),
  );
  if (Object.keys(changed).length === 0) return done();
  const read = CustomerInput.safeParse({ external_id: customer.external_id, ...changed });
  if (!read.success)
    return refused(
      Object.fromEntries(
        read.error.issues.map(({ path, message }) => [String(path[0] ?? 'form'), FAULTS[message] ?? 'invalid']),
      ),
    );
  const number = changed.tax_identification_number;
  if (number && !isVatNumber(number, changed.country ?? customer.country))
    return refused({ tax_identification_number: 'vat' });
  if ((await countChanges(ctx, customer.external_id)) >= MOST_A_DAY) return refused({ form: 'tooMany' });
  await upsertCustomer(ctx, { body: read.data });
  if (customer.email !== null && changed.email !== undefined && changed.email !== customer.email)
    await mailOfChange(ctx, customer);
  return done();
}

/** Sets the language of a customer's pages, mails and documents. */
export async function chooseLanguage(
  ctx: Context,
  input: { customer_id: CustomerId; locale: string },
): Promise<PortalOutcome> {
  const { customer } = await lockAllowed(ctx, input.customer_id, null);
  const read = CustomerInput.safeParse({
    external_id: customer.external_id,
    billing_configuration: { document_locale: input.locale },
  });
  if (!read.success) return refused({ form: 'invalid' });
  if ((await countChanges(ctx, customer.external_id)) >= MOST_A_DAY) return refused({ form: 'tooMany' });
  await upsertCustomer(ctx, { body: read.data });
  return done();
}

/** What a customer has changed on its pages within 24 hours of the organization's clock. */
async function countChanges({ db, organizationId, now }: Context, externalId: string): Promise<number> {
  const [row] = await db<{ changes: number }[]>`
    select count(*)::int as changes from activity_logs
    where organization_id = ${organizationId} and external_customer_id = ${externalId}
      and activity_type = 'customer.updated' and logged_at > ${now().subtract({ hours: 24 })}
      and activity_object ->> 'portal' = 'true'`;
  return row!.changes;
}
