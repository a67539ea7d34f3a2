import { can } from '../frame/session.ts';
import { t } from '../texts/en.ts';
import { Action, FormDialog, type FormOf } from './form.tsx';

/** Something that can be done here, as data: a button, and the window in which it is confirmed. */
export interface Offer extends Omit<FormOf, 'submit' | 'children'> {
  /** On the button, and above the window unless `title` says more. */
  text: string;
  title?: string;
  /** On the button of the window; the text if absent. */
  submit?: string;
  /** The resource that the key must be allowed to write. */
  needs: string;
  isMain?: boolean;
  /** What it does, above the fields. */
  about?: FormOf['children'];
}

/**
 * The commands of a page or row. Those that the key may not give are absent, as are those of a state in which they make
 * no sense (`false`). Rule: console.md#pages.
 *
 * most  how many are buttons; the others are in a menu, so that what is done every day stays easy to see
 */
export function Offers({
  of,
  isSmall = false,
  most = 4,
}: {
  of: readonly (Offer | false | undefined)[];
  isSmall?: boolean;
  most?: number;
}) {
  const allowed = of.filter((offer): offer is Offer => offer !== false && offer !== undefined && mayGive(offer));
  const shown = allowed.length > most + 1 ? allowed.slice(0, most) : allowed;
  const others = allowed.slice(shown.length);
  return (
    <>
      {shown.map((offer) => (
        <OfferButton key={offer.text} offer={offer} isSmall={isSmall} />
      ))}
      {others.length > 0 && (
        <details class="more">
          <summary class="button">{t.page.more}</summary>
          <div class="sheet">
            {others.map((offer) => (
              <OfferButton key={offer.text} offer={offer} isSmall={false} />
            ))}
          </div>
        </details>
      )}
    </>
  );
}

function OfferButton({ offer, isSmall }: { offer: Offer; isSmall: boolean }) {
  const { text, title = text, submit = text, needs: _needs, isMain = false, about, ...form } = offer;
  return (
    <Action text={text} isMain={isMain} isSmall={isSmall}>
      {(close) => (
        <FormDialog title={title} submit={submit} onClose={close} {...form}>
          {typeof about === 'string' ? <p>{about}</p> : about}
        </FormDialog>
      )}
    </Action>
  );
}

const mayGive = ({ needs }: Offer): boolean => can(needs, 'write');
