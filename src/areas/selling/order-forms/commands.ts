import { canOrderFormMove } from '../../../engine/quotes/quote-states.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { OrderFormId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { type FieldErrors, refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { createOrder } from '../orders/create-order.ts';
import { endsOf } from '../quotes/billing-items/terms-of-items.ts';
import { voidVersion } from '../quotes/commands/void.ts';
import { zoneOf } from '../quotes/deal.ts';
import { dealDateFault } from '../quotes/deal-dates.ts';
import { lockQuote } from '../quotes/lock-quote.ts';
import { getQuote, getQuoteVersion, type QuoteVersionRow } from '../quotes/queries.ts';
import { recordOrderForm } from './announce.ts';
import { getOrderForm, insertSignedDocument, markEnded, markSigned, type OrderFormRow } from './queries.ts';
import type { OrderFormSign } from './schema.ts';
import { readSignedDocument, type SignedDocument } from './signed-document.ts';

/**
 * Marks a form as signed and creates its order, which is executed on demand or at `execute_at`.
 *
 * @throws Refusal 404 order_form; 422 status not_signable; execution_mode, execute_at, signed_document
 * Rule: quotes.md#routes.
 */
export async function markOrderFormAsSigned(
  ctx: Context,
  { svc_id, body }: { svc_id: string; body: OrderFormSign | undefined },
) {
  const given = body?.order_form ?? {};
  const form = await lockOrderForm(ctx, svc_id);
  if (!canOrderFormMove(form.status, 'signed')) throw refuse.invalid({ status: ['not_signable'] });
  const quote = await getQuote(ctx, form.quote_id);
  const version = await getQuoteVersion(ctx, form.quote_version_id);
  await refuseSchedule(ctx, form, version, given);
  const document = given.signed_document ? readSignedDocument(given.signed_document) : undefined;
  await markSigned(ctx, form.id, ctx.now());
  if (document) await keep(ctx, form, document);
  const shown = await recordOrderForm(
    ctx,
    ['order_form.signed', ...(document ? (['order_form.file_uploaded'] as const) : [])],
    form.id,
  );
  await createOrder(ctx, {
    quote,
    version,
    orderFormId: form.id,
    executionMode: given.execution_mode ?? null,
    executeAt: given.execute_at ?? null,
  });
  return { order_form: shown };
}

/**
 * Voids a form that was not signed, and its version with it.
 *
 * @throws Refusal 404 order_form; 422 status not_voidable
 * Rule: quotes.md#routes.
 */
export async function voidOrderForm(ctx: Context, { svc_id }: { svc_id: string }) {
  const form = await lockOrderForm(ctx, svc_id);
  if (!canOrderFormMove(form.status, 'voided')) throw refuse.invalid({ status: ['not_voidable'] });
  return { order_form: await endOrderForm(ctx, form, 'voided') };
}

/**
 * Ends a generated form for one of two reasons; the caller holds its quote. Rules: quotes.md#routes,
 * quotes.md#execution.
 */
export async function endOrderForm(ctx: Context, form: OrderFormRow, status: 'expired' | 'voided') {
  const reason = status === 'expired' ? 'expired' : 'manual';
  await markEnded(ctx, form.id, { end: { status, reason }, now: ctx.now() });
  const version = await getQuoteVersion(ctx, form.quote_version_id);
  await voidVersion(ctx, version, status === 'expired' ? 'cascade_of_expired' : 'cascade_of_voided');
  return recordOrderForm(ctx, [`order_form.${status}`], form.id);
}

/**
 * A form whose quote stays locked until the transaction ends.
 *
 * @throws Refusal 404 order_form; 422 base concurrency_conflict
 */
export async function lockOrderForm(ctx: Context, id: OrderFormId): Promise<OrderFormRow> {
  const { quote_id: quoteId } = await getOrderForm(ctx, id);
  await lockQuote(ctx, quoteId);
  return getOrderForm(ctx, id);
}

async function refuseSchedule(
  ctx: Context,
  form: OrderFormRow,
  version: QuoteVersionRow,
  given: NonNullable<OrderFormSign['order_form']>,
): Promise<void> {
  if (!given.execute_at) return;
  const customer = await readCustomer(ctx, form.customer_id);
  const fault = dealDateFault(ctx, given.execute_at, { ends: endsOf(version.billing_items), zone: zoneOf(customer) });
  const faults: FieldErrors = {
    ...(given.execution_mode ? {} : { execution_mode: ['value_is_mandatory'] }),
    ...(fault ? { execute_at: [fault] } : {}),
  };
  refuseFaults(faults);
}

const keep = (ctx: Context, form: OrderFormRow, { contentType, ending, content }: SignedDocument) =>
  insertSignedDocument(
    ctx,
    {
      id: newId(),
      order_form_id: form.id,
      file_name: `${form.number}.${ending}`,
      content_type: contentType,
      content,
    },
    realNow(),
  );
