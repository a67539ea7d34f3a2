import type { CustomerId } from '../../platform/ids.ts';
import { announcement } from '../../platform/reactions.ts';

/**
 * An invoice took credits from wallets of a customer, whom the transaction holds locked; their ongoing balances have to
 * be computed again.
 */
export const walletsUsed = announcement<{ customer_id: CustomerId }>('wallets.used');
