import { useSignal } from '@preact/signals';
import { ApiError, read } from '../../frame/api.ts';
import { Copy } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';

/** The customer's own page: a link that lets its holder in, made when it is asked for. */
export function PortalLink({ externalId }: { externalId: string }) {
  const url = useSignal<string | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  const isOpen = useSignal(false);
  const open = async () => {
    isOpen.value = true;
    url.value = undefined;
    error.value = undefined;
    try {
      const answer = await read<{ customer: { portal_url: string } }>(
        `/customers/${encodeURIComponent(externalId)}/portal_url`,
      );
      url.value = answer.customer.portal_url;
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      error.value = caught;
    }
  };
  const close = () => {
    isOpen.value = false;
  };
  return (
    <>
      <button type="button" onClick={() => void open()}>
        {t.customers.portalLink}
      </button>
      {isOpen.value && (
        <Dialog title={t.customers.portalTitle} onClose={close}>
          {error.value && <Failure error={error.value} again={() => void open()} />}
          {!error.value && url.value === undefined && <Loading rows={1} />}
          {url.value !== undefined && (
            <>
              <p class="soft">{t.customers.portalAbout}</p>
              <div class="curl">
                <pre>{url.value}</pre>
                <Copy text={url.value} label={t.customers.copyLink} />
              </div>
              {/^https?:/.test(url.value) && (
                <div class="actions">
                  <a class="button" href={url.value} target="_blank" rel="noreferrer">
                    {t.customers.openPortal}
                  </a>
                </div>
              )}
            </>
          )}
        </Dialog>
      )}
    </>
  );
}
