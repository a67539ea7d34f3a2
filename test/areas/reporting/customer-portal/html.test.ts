import { expect, test } from 'vitest';
import { html } from '../../../../src/areas/reporting/customer-portal/html.ts';

test('what is put into a template is escaped, but for HTML itself', () => {
  const name = `<script>"a" & 'b'</script>`;
  expect(html`<p title="${name}">${html`<b>${name}</b>`}</p>`.html).toBe(
    '<p title="&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;">' +
      '<b>&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;</b></p>',
  );
});

test('false, null and undefined are nothing, lists stand one after the other', () => {
  expect(html`${false}${null}${undefined}${['<', html`<br>`, ['0']]}`.html).toBe('&lt;<br>0');
});
