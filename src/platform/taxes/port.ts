import type { z } from 'zod';
import type { TaxDocumentSchema } from './document.ts';

/** What is taxed: an invoice, a fee of its own, or a credit note with negative lines. */
export type TaxDocument = z.infer<typeof TaxDocumentSchema>;
export type TaxAddress = TaxDocument['seller']['address'];

/** What an engine answers about one line. Amounts are texts of decimals in cents. */
export interface LineTaxes {
  /** Id of the line that was sent. */
  id: string;
  collectedCents: number;
  taxes: readonly {
    jurisdiction: string;
    name: string;
    /** A fraction: 0.0481 is 4.81 %. */
    rate: string;
    amountCents: string;
  }[];
  /** Why nothing is taxed, in snake case; null for a line with taxes. */
  notTaxed: string | null;
}

export interface TaxAnswer {
  lines: readonly LineTaxes[];
}

/** What an engine estimated for a preview. */
export interface EstimatedTaxes {
  document: TaxDocument;
  answer: TaxAnswer;
}

/** A reason of an engine, in its own word. */
export interface TaxFault {
  code: string;
  message: string;
}

/** What came back over the network, for the list of calls. */
export interface CallTrace {
  httpStatus: number | null;
  /** Body of a failure. */
  body: string | null;
}

/** The end of a call. Rule: tax-engines.md#failures. */
export type TaxOutcome<Answer> = { trace: CallTrace } & (
  | { kind: 'answered'; answer: Answer }
  /** Asking again changes nothing until the document, the account or a mapping changes. */
  | { kind: 'refused'; fault: TaxFault; isUnauthorized?: boolean }
  /** The document is part of a tax return there and can no longer change. */
  | { kind: 'filed'; fault: TaxFault }
  /** Unknown: the same call later tells. */
  | { kind: 'unreachable'; fault: TaxFault; retryAfterMs?: number }
);

/** Whether the engine refused a call as one too many for this second. */
export const isTooMany = (
  outcome: TaxOutcome<unknown>,
): outcome is Extract<TaxOutcome<never>, { kind: 'unreachable' }> =>
  outcome.kind === 'unreachable' && outcome.trace.httpStatus === 429;

/**
 * A tax engine over the network. No method is called inside a transaction; every call ends with an outcome and throws
 * nothing. Documents are known to the engine by their ids, so the same call twice leaves one record there.
 *
 * Rule: tax-engines.md#engines.
 */
export interface TaxEngine {
  /** Whether the credentials work. */
  check(timeoutMs: number): Promise<TaxOutcome<null>>;
  /** Computes taxes without a record. */
  estimate(document: TaxDocument, timeoutMs: number): Promise<TaxOutcome<TaxAnswer>>;
  /** Computes taxes and keeps the document for the tax return; a known id replaces it. */
  record(document: TaxDocument, timeoutMs: number): Promise<TaxOutcome<TaxAnswer>>;
  /** Takes a document back that is in no tax return yet; one that is unknown there is taken back already. */
  void(id: string, timeoutMs: number): Promise<TaxOutcome<null>>;
  /** Records the inverse of a document that was filed, under an id of its own. */
  negate(id: string, newId: string, timeoutMs: number): Promise<TaxOutcome<null>>;
}
