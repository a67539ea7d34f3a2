import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { findTaxesByCodes, type TaxRow } from '../../catalog/taxes/queries.ts';
import { replaceBillingEntityTaxes } from '../../catalog/taxes/writes.ts';
import { dunningOfEntityWished, timezoneChanged } from '../announcements.ts';
import { changedEInvoicing, eInvoicingFaults } from '../e-invoicing.ts';
import { generateEuTaxes } from '../eu-taxes/generate-eu-taxes.ts';
import { replaceSections } from '../invoice-custom-sections/choose-sections.ts';
import { detailsOf, recordBillingEntity } from './announce.ts';
import { countryFaults } from './country-rules.ts';
import { documentNumberPrefix } from './document-number-prefix.ts';
import {
  type BillingEntityFields,
  type BillingEntityRow,
  findBillingEntity,
  getBillingEntity,
  lockBillingEntity,
} from './queries.ts';
import type { BillingEntityCreate, BillingEntityUpdate } from './schema.ts';
import { billingEntityDetails, billingEntityView } from './view.ts';
import {
  continueEntitySequence,
  flagDraftsOfEntity,
  insertBillingEntity,
  moveDueDatesOfEntity,
  updateBillingEntityRow,
} from './writes.ts';

/** Settings that date drafts (invoices.md#dates). */
const DRAFT_DATING = [
  'invoice_grace_period',
  'subscription_invoice_issuing_date_anchor',
  'subscription_invoice_issuing_date_adjustment',
] as const;

/**
 * Makes a billing entity; an organization may have any number of them.
 *
 * @throws Refusal 422 code value_already_exist
 * @throws Refusal 422 einvoicing, eu_tax_management, by the rules of the country
 */
export async function createBillingEntity(ctx: Context, { body }: { body: BillingEntityCreate }) {
  const id = newId();
  const fields = fieldsOf(body, documentNumberPrefix(body.name, id), null);
  const namesake = await findBillingEntity(ctx, body.code);
  refuseFaults({
    ...(namesake ? { code: ['value_already_exist'] } : {}),
    ...countryFaults({ country: null, einvoicing: false, eu_tax_management: false, ...fields }),
    ...eInvoicingFaults(fields.e_invoicing ?? null),
  });
  await insertBillingEntity(ctx.db, {
    document_number_prefix: documentNumberPrefix(body.name, id),
    ...fields,
    id,
    organization_id: ctx.organizationId,
    code: body.code,
    name: body.name,
    created_at: ctx.now(),
    updated_at: ctx.now(),
  });
  const entity = await getBillingEntity(ctx, body.code);
  if (entity.eu_tax_management) await generateEuTaxes(ctx, entity.timezone);
  recordBillingEntity(ctx, 'created', { entity, object: billingEntityDetails(entity, [], []) });
  return { billing_entity: billingEntityView(entity) };
}

/**
 * Changes a billing entity: only keys that were sent.
 *
 * @throws Refusal 404 billing_entity, tax, dunning_campaign
 * @throws Refusal 422 code value_is_frozen
 * @throws Refusal 422 einvoicing, eu_tax_management, by the rules of the country
 */
export async function updateBillingEntity(ctx: Context, { code, body }: { code: string; body: BillingEntityUpdate }) {
  const entity = await lockBillingEntity(ctx, code);
  const fields = fieldsOf(body, documentNumberPrefix(body.name ?? entity.name, entity.id), entity.e_invoicing);
  const isRenamed = body.code !== undefined && body.code !== entity.code;
  refuseFaults({
    ...(isRenamed ? { code: ['value_is_frozen'] } : {}),
    ...countryFaults({ ...entity, ...fields }),
    ...eInvoicingFaults(fields.e_invoicing ?? null),
  });
  const taxes = body.tax_codes && (await findTaxesByCodes(ctx, body.tax_codes, { ignoreCase: true }));
  if (body.dunning_campaign_code !== undefined) {
    const { dunning_campaign_code } = body;
    await announce(ctx, dunningOfEntityWished, { billing_entity: entity, dunning_campaign_code });
  }
  const sectionCodes = body.invoice_custom_section_codes;
  return { billing_entity: await changeBillingEntity(ctx, entity, fields, { taxes, sectionCodes }) };
}

/**
 * Writes checked changes to a locked billing entity, with their effects on drafts and numbers (billing-entities.md
 * "effects of PUT"), and returns it as it then is.
 */
export async function changeBillingEntity(
  ctx: Context,
  entity: BillingEntityRow,
  fields: Partial<BillingEntityFields>,
  { taxes, sectionCodes }: { taxes?: TaxRow[] | undefined; sectionCodes?: readonly string[] | undefined } = {},
) {
  const before = await detailsOf(ctx, entity);
  await updateBillingEntityRow(ctx, entity.id, { ...fields, updated_at: ctx.now() });
  if (fields.net_payment_term !== undefined && fields.net_payment_term !== entity.net_payment_term)
    await moveDueDatesOfEntity(ctx, entity.id, fields.net_payment_term);
  if (DRAFT_DATING.some((key) => fields[key] !== undefined && fields[key] !== entity[key]))
    ctx.after({ step: 'redate-drafts', payload: { billing_entity_id: entity.id } });
  if (fields.timezone !== undefined && fields.timezone !== entity.timezone)
    await announce(ctx, timezoneChanged, { billing_entity_id: entity.id });
  if (fields.document_numbering === 'per_billing_entity' && entity.document_numbering !== 'per_billing_entity')
    await continueEntitySequence(ctx, entity.id);
  if (taxes) {
    await replaceBillingEntityTaxes(
      ctx,
      entity.id,
      taxes.map((tax) => tax.id),
    );
    await flagDraftsOfEntity(ctx, entity.id);
  }

  if (sectionCodes)
    await replaceSections(ctx, { type: 'billing_entity', id: entity.id }, { codes: sectionCodes, now: ctx.now() });

  const changed = await getBillingEntity(ctx, entity.code);
  if (fields.eu_tax_management) await generateEuTaxes(ctx, changed.timezone);
  const after = await detailsOf(ctx, changed);
  recordBillingEntity(ctx, 'updated', { entity: changed, object: after, before });
  return after;
}

/** Columns that an input sets: those of the keys sent. */
function fieldsOf(
  {
    code: _code,
    name,
    billing_configuration: configuration,
    logo,
    document_number_prefix: prefix,
    e_invoicing: said,
    ...body
  }: BillingEntityUpdate,
  generatedPrefix: string,
  eInvoicing: BillingEntityRow['e_invoicing'],
): Partial<BillingEntityFields> {
  const {
    tax_codes: _taxes,
    invoice_custom_section_codes: _sections,
    dunning_campaign_code: _campaign,
    ...plain
  } = body;
  const fields = {
    ...plain,
    ...configuration,
    name,
    logo_url: logo,
    e_invoicing: said === undefined ? undefined : changedEInvoicing(eInvoicing, said),
    document_number_prefix: prefix === null ? generatedPrefix : prefix,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
