import { realNowMs } from '../clock/real-clock.ts';
import type { Sender } from './port.ts';

/** How long a document is on its way, in real time. */
const DELIVERED_AFTER_MS = 60_000;
/** The address whose receiver rejects everything. */
const REJECTING = '0000000000';
/** The address whose documents never arrive. */
const LOSING = '9999999999';

const answered = <Answer>(answer: Answer) =>
  ({ kind: 'answered', answer, trace: { httpStatus: null, body: null } }) as const;

/**
 * The access point of sandboxes: it takes every document, and keeps nothing, because its id says where to and when.
 *
 * Rule: e-documents.md#sending.
 */
export function sandboxSender(): Sender {
  return {
    check: async () => answered(null),
    lookup: async () => answered({ isReachable: true }),
    send: async ({ id, receiver }) => {
      const fate = receiver.id === REJECTING ? 'rejected' : receiver.id === LOSING ? 'lost' : 'delivered';
      return answered({ providerId: `sandbox.${Math.trunc(realNowMs())}.${fate}.${id}` });
    },
    async status(providerId) {
      const [, sentAt, fate] = providerId.split('.');
      const isThere = realNowMs() - Number(sentAt) >= DELIVERED_AFTER_MS;
      if (!isThere || fate === 'lost') return answered({ status: 'sent', reason: null } as const);
      if (fate !== 'rejected') return answered({ status: 'delivered', reason: null } as const);
      const reason = { code: 'rejected', message: 'The receiver of this address rejects every document.' };
      return answered({ status: 'rejected', reason } as const);
    },
  };
}
