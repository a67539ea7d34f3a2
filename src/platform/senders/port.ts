import type { CallTrace } from '../taxes/port.ts';

/** Where a party takes electronic documents: a number in the register that the scheme names. */
export interface Endpoint {
  scheme: string;
  id: string;
}

/** A document on its way. Under its id the access point knows it, however often it is sent. */
export interface SentDocument {
  id: string;
  number: string;
  kind: 'document' | 'cancellation';
  profile: string;
  fileName: string;
  contentType: string;
  sha256: string;
  content: Uint8Array;
  sender: Endpoint | null;
  receiver: Endpoint;
}

/** What an access point says about a document that it took, each with its rank: a later one is never undone. */
export const REPORTED = ['sent', 'delivered', 'accepted', 'rejected', 'paid_reported'] as const;
export type Reported = (typeof REPORTED)[number];

/** States of a sending. Rule: e-documents.md#sending. */
export const TRANSMISSION_STATUSES = ['queued', ...REPORTED, 'failed'] as const;
export type TransmissionStatus = (typeof TRANSMISSION_STATUSES)[number];

const MOVES: Readonly<Record<TransmissionStatus, readonly TransmissionStatus[]>> = {
  queued: ['sent', 'failed'],
  sent: ['delivered', 'accepted', 'rejected', 'paid_reported', 'failed'],
  delivered: ['accepted', 'rejected', 'paid_reported'],
  accepted: ['paid_reported'],
  rejected: [],
  paid_reported: [],
  failed: [],
};

/** Whether a sending may go from one state to another; every other move is backward. */
export const canMove = (from: TransmissionStatus, to: TransmissionStatus): boolean => MOVES[from].includes(to);

/** A reason in the words of the access point or of the receiver. */
export interface SendFault {
  code: string;
  message: string;
}

export interface Report {
  status: Reported;
  /** Why the receiver rejected it. */
  reason: SendFault | null;
}

/** The end of a call. */
export type SendOutcome<Answer> = { trace: CallTrace } & (
  | { kind: 'answered'; answer: Answer }
  /** Sending the same again changes nothing. */
  | { kind: 'refused'; fault: SendFault; isUnauthorized?: boolean }
  /** Unknown: the same call under the same id tells later. */
  | { kind: 'unreachable'; fault: SendFault; retryAfterMs?: number }
);

/**
 * An access point over the network. No method is called inside a transaction; every call ends with an outcome and
 * throws nothing.
 *
 * Rule: e-documents.md#sending.
 */
export interface Sender {
  /** Whether the credentials work. */
  check(): Promise<SendOutcome<null>>;
  /** Whether somebody takes documents of a profile at an address. */
  lookup(receiver: Endpoint, profile: string): Promise<SendOutcome<{ isReachable: boolean }>>;
  /** Hands a document over; a known id with the same content answers as the first time. */
  send(document: SentDocument): Promise<SendOutcome<{ providerId: string }>>;
  /** What became of a document. */
  status(providerId: string): Promise<SendOutcome<Report>>;
}
