import { FormDialog } from '../../parts/form.tsx';
import type { Subscription } from '../../parts/records.ts';

/** Ends a subscription at once; what it owes is billed. */
export function TerminateForm({ subscription, onClose }: { subscription: Subscription; onClose: () => void }) {
  return (
    <FormDialog
      title="Terminate the subscription"
      submit="Terminate"
      typed={subscription.external_id}
      onClose={onClose}
      command={() => ({ method: 'DELETE', path: `/subscriptions/${encodeURIComponent(subscription.external_id)}` })}
    >
      <p>
        It ends now. Usage up to this moment is billed with a closing invoice, and what was paid in advance for the rest
        of the period is credited. This cannot be taken back.
      </p>
    </FormDialog>
  );
}
