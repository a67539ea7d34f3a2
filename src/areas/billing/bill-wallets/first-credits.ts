import { decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { StepPayload } from '../../../steps.ts';
import { lockWallet } from '../../credits/wallets/queries.ts';
import { topUp } from './top-up.ts';

type FirstCredits = StepPayload<'book-first-credits'>;

/**
 * Step `book-first-credits`: books the credits that a wallet was created with. Rule: wallets.md#transactions "first
 * credits".
 */
export async function bookFirstCredits(ctx: Context, given: FirstCredits): Promise<void> {
  const wallet = await lockWallet(ctx, { id: given.wallet_id });
  if (wallet?.status !== 'active') return;
  await topUp(
    ctx,
    wallet,
    { paidCredits: decimal(given.paid_credits ?? 0), grantedCredits: decimal(given.granted_credits ?? 0) },
    {
      name: given.name,
      metadata: given.metadata,
      ...(given.priority === null ? {} : { priority: given.priority }),
      payment_method_type: wallet.payment_method_type,
      payment_method_id: wallet.payment_method_id,
      purchase_order_number: wallet.purchase_order_number,
    },
  );
}
