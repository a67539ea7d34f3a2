import type { Context } from '../../../platform/context.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { findTaxesByCodes, listTaxesOfCustomers, type TaxRow } from '../../catalog/taxes/queries.ts';
import { replaceCustomerTaxes } from '../../catalog/taxes/writes.ts';
import { dunningOfCustomerWished, timezoneChanged } from '../announcements.ts';
import { type BillingEntityRow, findBillingEntity, getDefaultBillingEntity } from '../billing-entities/queries.ts';
import { changedEInvoicing, eInvoicingFaults } from '../e-invoicing.ts';
import { applyEuTaxes } from '../eu-taxes/apply-eu-taxes.ts';
import { flagDraftsOfCustomer } from '../flag-drafts.ts';
import { replaceSections } from '../invoice-custom-sections/choose-sections.ts';
import { listApplicableSections } from '../invoice-custom-sections/queries.ts';
import { activityOf, recordCustomer } from './announce.ts';
import { announceLink } from './announce-link.ts';
import { returnNumber, takeNumber } from './customer-numbers.ts';
import { fieldsOf } from './input-fields.ts';
import { demandLinks, followTaxFacts, saveLinks } from './integration-links.ts';
import { linkMadeThere, type MadeThere, type ProviderLink, providerLink } from './provider-link.ts';
import { type CustomerFields, type CustomerRow, hasBillingHistory, lockCustomer, readCustomer } from './queries.ts';
import type { CustomerInput } from './schema.ts';
import { customerView } from './view.ts';
import {
  insertCustomer,
  markCustomerDeleted,
  moveDueDatesOfCustomer,
  replaceMetadata,
  updateCustomer,
} from './writes.ts';

/** Settings that date drafts (invoices.md#dates). */
const DRAFT_DATING = [
  'invoice_grace_period',
  'subscription_invoice_issuing_date_anchor',
  'subscription_invoice_issuing_date_adjustment',
] as const;

/**
 * Makes a customer, or changes the live one of the same external id: only keys that were sent. Two that are made at the
 * same time become one customer; the later request is an update. Rule: customers.md#saving.
 *
 * @throws Refusal 404 billing_entity, unknown or archived
 * @throws Refusal 404 tax
 * @throws Refusal 422 account_type value_is_frozen, once something was billed
 * @throws Refusal 422 base payment_provider_not_found, payment_provider_code_missing
 * @throws Refusal 404 dunning_campaign; 422 exclude_from_dunning_campaign
 * @throws Refusal 422 integration_customers, type, external_customer_id, of a link that cannot be
 * @throws Refusal 422 invoice_custom_sections skip_sections_and_selected_ids_sent_together
 */
export async function upsertCustomer(ctx: Context, { body }: { body: CustomerInput }) {
  const [stored, byDefault] = await Promise.all([lockCustomer(ctx, body.external_id), getDefaultBillingEntity(ctx)]);
  demandLinks(body, stored);
  const entity = await chosenEntity(ctx, body, stored);
  const { fields, link } = await checkedFields(ctx, body, stored);
  const taxes = body.tax_codes && (await findTaxesByCodes(ctx, body.tax_codes));
  if (stored) return change(ctx, { stored, body, entity, fields, link, taxes });

  const seller = entity ?? byDefault;
  const id = (ctx.asked?.recordId ?? newId()) as CustomerId;
  const inherits = !body.invoice_custom_section_codes?.length;
  const owner = { id, billing_entity_id: seller.id, skip_invoice_custom_sections: !!body.skip_invoice_custom_sections };
  // What it inherits does not depend on its row, and is read beside its number.
  const [created, inherited] = await Promise.all([
    create(ctx, { id, externalId: body.external_id, entity: seller, fields }),
    inherits ? listApplicableSections(ctx, owner) : undefined,
  ]);
  // The customer was created after the first look; its transaction is over, so it is visible now and can be changed.
  if (created === undefined) return upsertCustomer(ctx, { body });
  if (taxes?.length) await replaceCustomerTaxes(ctx, id, idsOf(taxes));
  if (body.metadata?.length) await storeMetadata(ctx, id, body.metadata, []);
  await saveSections(ctx, id, body);
  const isComplete = !body.metadata?.length && body.integration_customers === undefined;
  const customer = isComplete ? created : await linked(ctx, id, body);
  const euTaxes = await applyEuTaxes(ctx, { customer, seller, sent: taxes });
  const answer = recordCustomer(ctx, 'created', customer, {
    taxes: euTaxes ?? taxes ?? [],
    sections: inherited ?? (await listApplicableSections(ctx, customer)),
  });
  await announceLink(ctx, customer, link);
  await announce(ctx, dunningOfCustomerWished, { customer, wish: body });
  return answer;
}

/**
 * Deletes a customer: no read finds it and its external id may be used again. Its subscriptions and drafts are ended by
 * a step afterwards. Rule: customers.md#deletion-portal-checkout.
 *
 * @throws Refusal 404 customer
 */
export async function deleteCustomer(ctx: Context, { external_id }: { external_id: string }) {
  const customer = await lockCustomer(ctx, external_id);
  if (!customer) throw refuse.notFound('customer');
  const taxes = await listTaxesOfCustomers(ctx, [customer.id]);
  await markCustomerDeleted(ctx, customer.id, ctx.now());
  ctx.after({ step: 'finish-customer-deletion', payload: { customer_id: customer.id } });
  const sections = await listApplicableSections(ctx, customer);
  const object = customerView({ ...customer, updated_at: ctx.now() }, taxes, sections);
  ctx.record({ activity: activityOf('deleted', customer, object) });
  return { customer: object };
}

/** The named entity; undefined if none was named. An archived one keeps the customers it has. */
async function chosenEntity(
  ctx: Context,
  { billing_entity_code: code }: CustomerInput,
  stored: CustomerRow | undefined,
): Promise<BillingEntityRow | undefined> {
  if (code === undefined || code === null) return undefined;
  const entity = await findBillingEntity(ctx, code);
  const isOpen = entity && (entity.archived_at === null || entity.id === stored?.billing_entity_id);
  if (!isOpen) throw refuse.notFound('billing_entity');
  return entity;
}

async function checkedFields(
  ctx: Context,
  body: CustomerInput,
  stored: CustomerRow | undefined,
): Promise<{ fields: Partial<CustomerFields>; link: ProviderLink }> {
  const wished = await providerLink(ctx, body.billing_configuration ?? {}, stored);
  const there = ctx.asked?.answer as MadeThere | undefined;
  const link = there ? linkMadeThere(wished, stored?.id ?? ctx.asked!.recordId, there) : wished;
  const faults = { ...link.faults };
  if (body.skip_invoice_custom_sections && body.invoice_custom_section_codes?.length)
    faults.invoice_custom_sections = ['skip_sections_and_selected_ids_sent_together'];
  if (stored && body.account_type !== undefined && body.account_type !== stored.account_type) {
    if (await hasBillingHistory(ctx, stored.id)) faults.account_type = ['value_is_frozen'];
  }
  const said =
    body.e_invoicing === undefined
      ? {}
      : { e_invoicing: changedEInvoicing(stored?.e_invoicing ?? null, body.e_invoicing) };
  refuseFaults({ ...faults, ...eInvoicingFaults(said.e_invoicing ?? null) });
  return { fields: { ...fieldsOf(body), ...said, ...link.changes }, link };
}

async function create(
  ctx: Context,
  {
    id,
    externalId,
    entity,
    fields,
  }: { id: CustomerId; externalId: string; entity: BillingEntityRow; fields: Partial<CustomerFields> },
): Promise<CustomerRow | undefined> {
  const { number, prefix } = await takeNumber(ctx);
  const customer = await insertCustomer(ctx.db, {
    ...fields,
    id,
    organization_id: ctx.organizationId,
    billing_entity_id: entity.id,
    external_id: externalId,
    sequential_id: number,
    slug: `${prefix}-${String(number).padStart(3, '0')}`,
    created_at: ctx.now(),
    updated_at: ctx.now(),
  });
  if (!customer) await returnNumber(ctx, number);
  return customer;
}

interface Change {
  stored: CustomerRow;
  body: CustomerInput;
  entity: BillingEntityRow | undefined;
  fields: Partial<CustomerFields>;
  link: ProviderLink;
  taxes: TaxRow[] | undefined;
}

async function change(ctx: Context, { stored, body, entity, fields, link, taxes }: Change) {
  const formerTaxes = await listTaxesOfCustomers(ctx, [stored.id]);
  const before = customerView(stored, formerTaxes, await listApplicableSections(ctx, stored));
  await updateCustomer(ctx, stored.id, {
    ...fields,
    ...(entity ? { billing_entity_id: entity.id } : {}),
    updated_at: ctx.now(),
  });
  if (taxes) {
    await replaceCustomerTaxes(ctx, stored.id, idsOf(taxes));
    await flagDraftsOfCustomer(ctx, stored.id);
  }
  if (body.metadata) await storeMetadata(ctx, stored.id, body.metadata, stored.metadata);
  if (fields.net_payment_term !== undefined && fields.net_payment_term !== stored.net_payment_term)
    await moveDueDatesOfCustomer(ctx, stored.id);
  if (DRAFT_DATING.some((key) => fields[key] !== undefined && fields[key] !== stored[key]))
    ctx.after({ step: 'redate-drafts', payload: { customer_id: stored.id } });
  await saveSections(ctx, stored.id, body);
  const customer = await linked(ctx, stored.id, body);
  await followTaxFacts(ctx, stored, customer);
  const euTaxes = await applyEuTaxes(ctx, { customer, before: { customer: stored, taxes: formerTaxes }, sent: taxes });
  if (zoneOf(customer) !== zoneOf(stored)) await announce(ctx, timezoneChanged, { customer_id: stored.id });
  const shown = {
    taxes: euTaxes ?? taxes ?? formerTaxes,
    sections: await listApplicableSections(ctx, customer),
  };
  const answer = recordCustomer(ctx, 'updated', customer, shown, before);
  await announceLink(ctx, customer, link);
  await announce(ctx, dunningOfCustomerWished, { customer, wish: body });
  return answer;
}

/** A saved customer with its links to other systems as the request wants them. */
async function linked(ctx: Context, id: CustomerId, body: CustomerInput): Promise<CustomerRow> {
  const customer = await readCustomer(ctx, id);
  if (body.integration_customers === undefined) return customer;
  await saveLinks(ctx, customer, body.integration_customers);
  return readCustomer(ctx, id);
}

/** A customer that skips sections selects none. Rule: customers.md#fields. */
async function saveSections(ctx: Context, customerId: CustomerId, body: CustomerInput): Promise<void> {
  const codes = body.skip_invoice_custom_sections ? [] : body.invoice_custom_section_codes;
  if (codes) await replaceSections(ctx, { type: 'customer', id: customerId }, { codes, now: ctx.now() });
}

const zoneOf = (customer: CustomerRow): string => customer.timezone ?? customer.billing_entity_timezone;

/**
 * Entries that name a stored one are changes of it, others are new; what is not named is gone (customers.md#fields).
 */
function storeMetadata(
  ctx: Context,
  customerId: CustomerId,
  items: NonNullable<CustomerInput['metadata']>,
  stored: CustomerRow['metadata'],
): Promise<void> {
  const known = new Map(stored.map((item) => [item.svc_id, item]));
  const now = seconds(ctx.now());
  return replaceMetadata(ctx, customerId, {
    items: items.map((item) => {
      const former = known.get(item.id ?? item.svc_id ?? '');
      if (former) known.delete(former.svc_id);
      return {
        id: former?.svc_id ?? newId(),
        key: item.key,
        value: item.value,
        display_in_invoice: item.display_in_invoice ?? former?.display_in_invoice ?? false,
        created_at: former?.created_at ?? now,
      };
    }),
    now: ctx.now(),
  });
}

const idsOf = (taxes: TaxRow[]): string[] => taxes.map((tax) => tax.id);
