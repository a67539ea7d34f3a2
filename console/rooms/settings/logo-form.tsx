import { useSignal } from '@preact/signals';
import { ApiError, write } from '../../frame/api.ts';
import { can } from '../../frame/session.ts';
import { readAllAgain } from '../../frame/use-read.ts';
import { Failure } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';
import type { Entity } from './billing-entities.tsx';

const words = t.settings;

/** The picture on documents, mails and the customers' page. */
export function LogoForm({ entity, path }: { entity: Entity; path: string }) {
  const error = useSignal<ApiError | undefined>(undefined);
  const isSending = useSignal(false);
  const send = async (logo: string | null) => {
    isSending.value = true;
    error.value = undefined;
    try {
      await write('PUT', path, { billing_entity: { logo } });
      await readAllAgain();
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      error.value = caught;
    } finally {
      isSending.value = false;
    }
  };
  const choose = (file: File | undefined) => {
    if (!file) return;
    const reader = new FileReader();
    reader.onload = () => void send(String(reader.result));
    reader.readAsDataURL(file);
  };
  return (
    <div class="card padded">
      <p class="soft">{entity.logo_url ? words.hasLogo : words.noLogo}</p>
      {error.value && <Failure error={error.value} />}
      {can('billing_entity', 'write') && (
        <div class="field">
          <label for="logo">{words.chooseLogo}</label>
          <input
            id="logo"
            type="file"
            accept="image/png,image/jpeg"
            disabled={isSending.value}
            onChange={(event) => choose(event.currentTarget.files?.[0])}
          />
          {entity.logo_url && (
            <button type="button" class="quiet" onClick={() => void send(null)}>
              {words.removeLogo}
            </button>
          )}
        </div>
      )}
    </div>
  );
}
