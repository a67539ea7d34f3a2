import { write } from '../../frame/api.ts';
import { announce } from '../../frame/live-region.tsx';
import { can } from '../../frame/session.ts';
import { money } from '../../parts/amounts.ts';
import { Action, FormDialog } from '../../parts/form.tsx';
import type { FullInvoice } from './invoice.tsx';

/** What can be done with an invoice in its state, by the rights of the key. */
export function InvoiceActions({ invoice }: { invoice: FullInvoice }) {
  const path = `/invoices/${invoice.svc_id}`;
  const isFinal = invoice.status === 'finalized';
  const isDue = isFinal && invoice.total_due_amount_cents > 0;
  const mayWrite = can('invoice', 'write');
  return (
    <>
      {mayWrite && invoice.status === 'draft' && (
        <>
          <Action text="Refresh">
            {(close) => (
              <FormDialog
                title="Compute the draft anew"
                submit="Refresh"
                onClose={close}
                command={() => ({ method: 'PUT', path: `${path}/refresh` })}
              />
            )}
          </Action>
          <Action text="Finalize" isMain>
            {(close) => (
              <FormDialog
                title="Finalize"
                submit="Finalize"
                onClose={close}
                command={() => ({ method: 'PUT', path: `${path}/finalize` })}
              >
                <p>The invoice gets its number, and is sent and collected as the customer's settings say.</p>
              </FormDialog>
            )}
          </Action>
        </>
      )}
      {isFinal && <Download path={path} />}
      {isDue && can('payment', 'write') && (
        <>
          <Action text="Record a payment">
            {(close) => (
              <FormDialog
                title="Record a payment"
                submit="Record"
                onClose={close}
                fields={[
                  {
                    name: 'amount_cents',
                    label: `Amount in the smallest unit (${money(invoice.total_due_amount_cents, invoice.currency)} is due)`,
                    type: 'number',
                    value: String(invoice.total_due_amount_cents),
                    isNeeded: true,
                  },
                  { name: 'reference', label: 'Reference', isNeeded: true, placeholder: 'Bank transfer of 3 May' },
                ]}
                command={({ amount_cents = '', reference }) => ({
                  method: 'POST',
                  path: '/payments',
                  body: {
                    payment: {
                      invoice_id: invoice.svc_id,
                      amount_cents: /^\d{1,15}$/.test(amount_cents) ? Number(amount_cents) : amount_cents,
                      reference,
                    },
                  },
                })}
              />
            )}
          </Action>
          <Action text="Collect again">
            {(close) => (
              <FormDialog
                title="Collect again"
                submit="Charge the customer"
                onClose={close}
                command={() => ({ method: 'POST', path: `${path}/retry_payment` })}
              >
                <p>
                  The customer's payment method is charged {money(invoice.total_due_amount_cents, invoice.currency)}{' '}
                  now.
                </p>
              </FormDialog>
            )}
          </Action>
        </>
      )}
      {mayWrite && isFinal && (
        <Action text="Void">
          {(close) => (
            <FormDialog
              title="Void this invoice"
              submit="Void"
              typed={invoice.number}
              onClose={close}
              command={() => ({ method: 'POST', path: `${path}/void` })}
            >
              <p>
                {money(invoice.total_amount_cents, invoice.currency)} are no longer asked for. Coupons and credits that
                it used come back. This cannot be taken back.
              </p>
            </FormDialog>
          )}
        </Action>
      )}
    </>
  );
}

/** Asks for the PDF, and opens it once it is drawn. */
function Download({ path }: { path: string }) {
  const open = async () => {
    announce('The PDF is being made');
    const answer = await write<{ invoice: { file_url: string | null } }>('POST', `${path}/download`).catch(
      () => undefined,
    );
    const url = answer?.invoice.file_url;
    if (url && /^https?:/.test(url)) window.open(url, '_blank', 'noreferrer');
    else announce('The PDF is not ready yet. Try again in a moment.');
  };
  return (
    <button type="button" onClick={() => void open()}>
      PDF
    </button>
  );
}
