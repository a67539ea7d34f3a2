import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import type { PayloadOf } from '../../../platform/reactions.ts';
import { drawUnasked } from '../../messaging/documents/ask-for-document.ts';
import type { paymentSucceeded } from '../announcements.ts';
import { recordReceiptCreated } from './announce.ts';

/**
 * Gives a succeeded payment its receipt, once, numbered per customer without gaps (`HOO-4321-001-RCPT-000001`). The
 * customer is locked. Its document is drawn after the commit, because no route of the contract requests it.
 * Rule: payments.md#receipts.
 */
export async function makeReceipt(
  ctx: Context,
  { payment, billing_entity_id }: PayloadOf<typeof paymentSucceeded>,
): Promise<void> {
  const { db, organizationId } = ctx;
  const [known] = await db`
    select from payment_receipts where organization_id = ${organizationId} and payment_id = ${payment.id}`;
  if (known) return;
  const id = newId();
  const [receipt] = await db<{ number: string }[]>`
    with counted as (
      update customers set payment_receipts_count = payment_receipts_count + 1
      where organization_id = ${organizationId} and id = ${payment.customer_id}
      returning slug, payment_receipts_count as position
    ), stored as (
      insert into payment_receipts (id, organization_id, payment_id, customer_id, billing_entity_id, number, created_at)
      select ${id}::uuid, ${organizationId}::uuid, ${payment.id}::uuid, ${payment.customer_id}::uuid,
        ${billing_entity_id}::uuid,
        slug || '-RCPT-' || lpad(position::text, greatest(6, length(position::text)), '0'), ${ctx.now()}
      from counted
      returning number
    )
    select number from stored`;
  await drawUnasked(ctx, { kind: 'payment_receipt', subjectId: id, number: receipt!.number });
  await recordReceiptCreated(ctx, id);
}
