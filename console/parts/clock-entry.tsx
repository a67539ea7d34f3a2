import { to } from '../frame/route.ts';
import { CustomerLink } from './customer-names.tsx';

/** A line of the timeline of a test clock. */
export interface ClockEntry {
  sequence: number;
  at: string;
  kind: string;
  name: string;
  resource_type: string | null;
  svc_resource_id: string | null;
  external_customer_id: string | null;
  summary: Record<string, unknown>;
}

/** The record that a line is about, and its customer. */
export function ClockSubject({
  of: { resource_type, svc_resource_id, external_customer_id, summary },
}: {
  of: ClockEntry;
}) {
  const text = String(summary.number ?? summary.code ?? summary.external_id ?? '');
  return (
    <>
      {resource_type === 'Invoice' && svc_resource_id ? (
        <a href={to('invoices', svc_resource_id)}>{text || 'invoice'}</a>
      ) : (
        text
      )}{' '}
      {external_customer_id && <CustomerLink id={external_customer_id} />}
    </>
  );
}
