import type { Handlers } from '../../../platform/queue/worker.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { lookAfterRefund, refundOverNetwork } from '../refund-notes/refund-over-network.ts';
import { cancelOverNetwork } from './cancel-over-network.ts';
import { chargeOverNetwork, pollPayment } from './charge-over-network.ts';
import { connectProvider, createCustomerThere, openPageThere } from './connect.ts';

/** What the payments pool does: everything that goes to a payment provider over the network. */
export const paymentHandlers = (
  deps: SystemDeps,
): Pick<
  Handlers,
  | 'payment.charge'
  | 'payment.look-after'
  | 'payment.cancel'
  | 'payment.refund'
  | 'payment.look-after-refund'
  | 'payment.connect'
  | 'payment.create-customer'
  | 'payment.open-page'
> => ({
  'payment.charge': (payload) => chargeOverNetwork(deps, payload),
  'payment.look-after': (payload) => pollPayment(deps, payload),
  'payment.cancel': (payload) => cancelOverNetwork(deps, payload),
  'payment.refund': (payload) => refundOverNetwork(deps, payload),
  'payment.look-after-refund': (payload) => lookAfterRefund(deps, payload),
  'payment.connect': (payload) => connectProvider(deps, payload),
  'payment.create-customer': (payload) => createCustomerThere(deps, payload),
  'payment.open-page': (payload) => openPageThere(deps, payload),
});
