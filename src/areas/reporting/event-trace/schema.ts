import { z } from 'zod';
import { textFilter } from '../../../platform/lists/filters.ts';
import { EventEnvelope, ExplanationView } from '../../usage/events/schema.ts';

export const EventTraceQuery = z.object({ external_subscription_id: textFilter });
export type EventTraceQuery = z.output<typeof EventTraceQuery>;

const Amount = { amount_cents: z.int(), currency: z.string() };
const Window = z.object({ from: z.iso.datetime(), to: z.iso.datetime() });

export const EventTrace = z.object({
  trace: z.object({
    event: EventEnvelope.shape.event,
    received_at: z.iso.datetime(),
    verdict: ExplanationView,
    versions_count: z.int(),
    unmatched: z.object({ reason: z.string(), status: z.string(), healed_at: z.iso.datetime().nullable() }).nullable(),
    charges: z.array(
      z.object({
        svc_charge_id: z.uuid(),
        charge_code: z.string(),
        group: z.record(z.string(), z.string().nullable()),
        value: z.string(),
        window: Window.nullable(),
        invoice: z.object({ svc_id: z.uuid(), number: z.string().nullable(), status: z.string() }).nullable(),
        fee: z.object({ svc_id: z.uuid(), ...Amount }).nullable(),
      }),
    ),
    in_advance_fees: z.array(
      z.object({
        svc_id: z.uuid(),
        svc_charge_id: z.uuid(),
        ...Amount,
        svc_invoice_id: z.uuid().nullable(),
        payment_status: z.string(),
      }),
    ),
    corrections: z.array(
      z.object({
        svc_id: z.uuid(),
        kind: z.string(),
        status: z.string(),
        policy: z.string(),
        reason: z.string(),
        created_at: z.iso.datetime(),
      }),
    ),
    wallet: z
      .object({ svc_id: z.uuid(), code: z.string(), name: z.string().nullable(), is_target: z.boolean() })
      .nullable(),
    alerts: z.array(
      z.object({ svc_id: z.uuid(), code: z.string(), alert_type: z.string(), triggered_at: z.iso.datetime() }),
    ),
  }),
});
export type EventTrace = z.infer<typeof EventTrace>;
