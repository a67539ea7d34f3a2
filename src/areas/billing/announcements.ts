import { announcement } from '../../platform/reactions.ts';

/**
 * An invoice took from the wallets of a customer, which the transaction holds locked: what is left of them is due a
 * look.
 */
export const walletsUsed = announcement<{ customer_id: string }>('wallets.used');
