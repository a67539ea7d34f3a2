/**
 * Events that are stored and change nothing, each with the reason; of one that is neither here nor handled somebody has
 * to decide first. Rule: provider-connections.md#adyen.
 */
export const IGNORED_EVENTS: ReadonlyMap<string, string> = new Map([
  ['AUTHORISATION_ADJUSTMENT', 'we change no amount that is reserved'],
  ['AUTORESCUE', 'the payment that comes of it has an AUTHORISATION of its own'],
  ['CANCEL_AUTORESCUE', 'it says only that Adyen tries no more'],
  ['CAPTURE', 'the money counts since it was authorised'],
  ['DONATION', 'it is not for the seller'],
  ['HANDLED_EXTERNALLY', 'the money moved outside of Adyen, where a person has booked it'],
  ['INFORMATION_SUPPLIED', 'a dispute goes on'],
  ['ISSUER_COMMENTS', 'a dispute goes on'],
  ['MANUAL_REVIEW_ACCEPT', 'the payment stays as it was authorised'],
  ['MANUAL_REVIEW_REJECT', 'the cancellation or refund that follows has an event of its own'],
  ['NOTIFICATION_OF_FRAUD', 'a report of the issuer, which moves no money'],
  ['ORDER_CLOSED', 'we make no orders of several payments'],
  ['ORDER_OPENED', 'we make no orders of several payments'],
  ['PAIDOUT_REVERSED', 'it is about a payout of the seller'],
  ['PAYOUT_DECLINE', 'it is about a payout of the seller'],
  ['PAYOUT_EXPIRE', 'it is about a payout of the seller'],
  ['PAYOUT_THIRDPARTY', 'it is about a payout of the seller'],
  ['PENDING', 'nothing has come in, and the payer may still leave; AUTHORISATION tells the end'],
  ['POSTPONED_REFUND', 'the refund is pending already; REFUND tells the end'],
  ['PROCESS_RETRY', 'a new attempt has an AUTHORISATION of its own'],
  ['RECURRING_CONTRACT', 'the stored method is named by the AUTHORISATION of its page'],
  ['REFUND_WITH_DATA', 'we pay nothing out without a payment'],
  ['REPORT_AVAILABLE', 'no report is read'],
  ['TECHNICAL_CANCEL', 'we cancel by the id of a payment, which CANCELLATION tells'],
  ['VOID_PENDING_REFUND', 'we end no refund that has begun'],
]);

/** What an event says of a dispute; `by status`: its status does, which may say that it is lost. */
export const DISPUTE_EVENTS: ReadonlyMap<string, 'opened' | 'lost' | 'won' | 'by status'> = new Map([
  ['NOTIFICATION_OF_CHARGEBACK', 'opened'],
  ['REQUEST_FOR_INFORMATION', 'opened'],
  ['CHARGEBACK', 'by status'],
  ['DISPUTE_DEFENSE_PERIOD_ENDED', 'by status'],
  ['SECOND_CHARGEBACK', 'lost'],
  ['PREARBITRATION_LOST', 'lost'],
  ['CHARGEBACK_REVERSED', 'won'],
  ['ISSUER_RESPONSE_TIMEFRAME_EXPIRED', 'won'],
  ['PREARBITRATION_WON', 'won'],
] as const);
