import type { FaultName } from '../texts/portal-texts.ts';

/**
 * What became of a form: what is wrong with its fields, or where the customer pays or what it made. It is the answer of
 * a command, so a form that is sent again has the same.
 */
export interface PortalOutcome {
  portal: {
    /** By field; `form` is none of them. Nothing was done. */
    faults?: Record<string, FaultName>;
    /** A payment request, or a purchase of credits, that is to be paid. */
    svc_payment_request_id?: string;
    svc_wallet_transaction_id?: string;
    /** Whether a stored method is charged for it. */
    is_charged?: boolean;
  };
}

export const refused = (faults: Record<string, FaultName>): PortalOutcome => ({ portal: { faults } });

export const done = (made: Omit<PortalOutcome['portal'], 'faults'> = {}): PortalOutcome => ({ portal: made });
