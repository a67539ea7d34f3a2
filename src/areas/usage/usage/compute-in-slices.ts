import type { Draft } from '../../../engine/invoices/draft.ts';
import { INVOICE_STEPS } from '../../../engine/invoices/invoice-steps.ts';
import { mapInSlices, type Pause } from '../../../platform/turns/turns.ts';

/** `computeInvoice` in pieces, because 20 000 fees with two taxes each take 250 ms of the processor. */
export async function computeInSlices(draft: Draft, pause: Pause | undefined): Promise<Draft> {
  let done = draft;
  for (const step of INVOICE_STEPS) {
    done =
      typeof step === 'function'
        ? step(done)
        : { ...done, fees: await mapInSlices(done.fees, step.eachFee(done), pause) };
    await pause?.();
  }
  return done;
}
