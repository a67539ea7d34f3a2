/** A colour of the pages in light and in dark, each readable as text and under text. */
export interface Accent {
  light: string;
  dark: string;
}

/** What texts need of contrast with what they stand on (WCAG 2.2, 1.4.3). */
const ENOUGH = 4.5;
const STEP_PERCENT = 5;
const BLACK = 0;
const WHITE = 255;

/** The grounds that are nearest to the accent in brightness: that of the page in light, of its cards in dark. */
const LIGHT_GROUND = '#f5f6f8';
const DARK_GROUND = '#1a2029';

/**
 * A seller's colour, mixed with black in light and with white in dark, in steps of 5 %, until it stands out from the
 * ground by 4.5 to 1.
 *
 *   #ffd400 → light #806a00 (half black), dark #ffd400
 *
 * colour  `#rrggbb`, in lower case
 * Rule: portal.md#accent-colour.
 */
export const accentOf = (colour: string): Accent => ({
  light: mixedUntil(colour, BLACK, LIGHT_GROUND),
  dark: mixedUntil(colour, WHITE, DARK_GROUND),
});

function mixedUntil(colour: string, other: number, ground: string): string {
  for (let percent = 0; percent < 100; percent += STEP_PERCENT) {
    const mixed = hexOf(
      channelsOf(colour).map((own) => Math.floor((own * (100 - percent) + other * percent) / 100 + 0.5)),
    );
    if (contrast(mixed, ground) >= ENOUGH) return mixed;
  }
  return hexOf([other, other, other]);
}

const channelsOf = (colour: string): number[] => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));

const hexOf = (channels: readonly number[]): string =>
  `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;

/** 1 to 21. */
function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

/** Relative luminance of a colour in sRGB, 0 to 1 (WCAG 2.2). */
function luminance(colour: string): number {
  const [red, green, blue] = channelsOf(colour).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
