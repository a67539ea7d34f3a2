import type { Context } from '../../../platform/context.ts';
import { json } from '../../../platform/db/values.ts';
import { newId } from '../../../platform/ids.ts';
import type { TaxFault } from '../../../platform/taxes/port.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import type { IntegrationRow } from '../../customers/integrations/queries.ts';
import { listFeesByIds } from '../../invoices/fees/queries.ts';
import { clearErrors, insertError } from '../../invoices/invoices/writes.ts';
import type { TaxDocumentRow } from '../request-taxes/tax-documents.ts';

interface Failed {
  question: TaxDocumentRow;
  integration: IntegrationRow;
  fault: TaxFault;
}

/** A draft keeps its fees, and shows that its taxes are unknown. */
export async function failEstimate(ctx: Context, failed: Failed): Promise<void> {
  const { question } = failed;
  const changed = await ctx.db`
    update invoices set tax_status = 'failed', updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${question.invoice_id} and status = 'draft'
      and tax_version = ${question.tax_version} returning id`;
  if (changed.length > 0) await announceOfCustomer(ctx, failed);
}

/** An invoice that waits fails with the reason; it goes on when the engine answers. Rule: invoices.md#error-details. */
export async function failRecord(ctx: Context, failed: Failed): Promise<void> {
  const { question, fault } = failed;
  const changed = await ctx.db`
    update invoices set status = 'failed', tax_status = 'failed', updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${question.invoice_id} and status in ('pending', 'failed')
    returning id`;
  if (changed.length === 0) return;
  await replaceError(ctx, question, 'tax_error', fault);
  await announceOfCustomer(ctx, failed);
}

/** The invoice stays void; only the engine does not know it yet. A fee on no invoice shows nothing. */
export async function failVoid(ctx: Context, { question, fault }: Failed): Promise<void> {
  if (question.invoice_id !== null) await replaceError(ctx, question, 'tax_voiding_error', fault);
}

/** The note stays as it is; only the engine does not know it yet. */
export async function failCorrection(ctx: Context, { question, fault }: Failed): Promise<void> {
  await ctx.db`
    delete from credit_note_error_details
    where organization_id = ${ctx.organizationId} and credit_note_id = ${question.credit_note_id}`;
  await ctx.db`
    insert into credit_note_error_details (id, organization_id, credit_note_id, error_code, details, created_at)
    values (${newId()}, ${ctx.organizationId}, ${question.credit_note_id}, 'tax_error',
      ${json({ tax_error: fault.code, tax_error_message: fault.message })}, ${ctx.now()})`;
}

/** A fee on no invoice stays without tax. */
export async function failFee(ctx: Context, failed: Failed): Promise<void> {
  const { question, integration, fault } = failed;
  const [fee] = await listFeesByIds(ctx, [question.fee_id!]);
  if (!fee) return;
  ctx.record({
    webhook: {
      type: 'fee.tax_provider_error',
      objectType: 'tax_provider_fee_error',
      objectId: fee.id,
      customerId: question.customer_id,
      object: {
        ...(await customerOf(ctx, failed)),
        tax_provider: integration.integration_type,
        tax_provider_code: integration.code,
        tax_date: question.document?.date ?? null,
        event_transaction_id: fee.event_transaction_id,
        svc_charge_id: fee.charge_id,
        provider_error: errorOf(fault),
      },
    },
  });
}

async function replaceError(
  ctx: Context,
  { invoice_id: id }: TaxDocumentRow,
  code: 'tax_error' | 'tax_voiding_error',
  fault: TaxFault,
): Promise<void> {
  await clearErrors(ctx, id!, [code]);
  await insertError(ctx, {
    id: newId(),
    invoice_id: id!,
    error_code: code,
    reason: null,
    details: { [code]: fault.code, [`${code}_message`]: fault.message },
    created_at: ctx.now(),
  });
}

/** The contract's list for this webhook has its own spelling. Rule: tax-engines.md#anrok. */
const SPELT_IN_CONTRACT: Readonly<Record<string, string>> = { anrok: 'anrock' };

async function announceOfCustomer(ctx: Context, failed: Failed): Promise<void> {
  const { question, integration, fault } = failed;
  ctx.record({
    webhook: {
      type: 'customer.tax_provider_error',
      objectType: 'tax_provider_customer_error',
      objectId: question.customer_id,
      customerId: question.customer_id,
      object: {
        ...(await customerOf(ctx, failed)),
        tax_provider: SPELT_IN_CONTRACT[integration.integration_type] ?? integration.integration_type,
        tax_provider_code: integration.code,
        provider_error: errorOf(fault),
      },
    },
  });
}

async function customerOf(ctx: Context, { question }: Failed) {
  const { id, external_id } = await readCustomer(ctx, question.customer_id);
  return { svc_customer_id: id, external_customer_id: external_id };
}

const errorOf = ({ code, message }: TaxFault) => ({ message, error_code: code });
