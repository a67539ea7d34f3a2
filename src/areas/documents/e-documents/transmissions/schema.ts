import { z } from 'zod';
import { TRANSMISSION_STATUSES } from '../../../../platform/senders/port.ts';

const instantOrNull = z.iso.datetime().nullable();

/** A sending of a document as clients see it. */
export const TransmissionView = z.object({
  svc_id: z.uuid(),
  svc_integration_id: z.uuid(),
  provider_id: z.string().nullable(),
  status: z.enum(TRANSMISSION_STATUSES),
  attempts: z.int(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  created_at: z.iso.datetime(),
  sent_at: instantOrNull,
  delivered_at: instantOrNull,
  answered_at: instantOrNull,
});
export type TransmissionView = z.infer<typeof TransmissionView>;
