import type { MailTexts } from './mail-texts.ts';

export const zhTw: MailTexts = {
  words: {
    invoice: {
      subject: '{seller} 帳單 {number}：{amount}，繳款期限 {due_date}',
      intro: '您的帳單 {number} 已附上 PDF 檔。',
      closing: '',
    },
    credit_note: {
      subject: '{seller} 折讓單 {number}：{amount}',
      intro: '您的折讓單 {number} 已附上 PDF 檔。',
      closing: '',
    },
    payment_receipt: {
      subject: '{seller} 收據 {number}：{amount}',
      intro: '感謝您的付款。收據 {number} 已附上 PDF 檔。',
      closing: '',
    },
    invoice_overdue: {
      subject: '提醒：{seller} 的 {amount} 已逾期',
      intro: '或許您沒有注意到：以下帳單尚未付清。',
      closing: '若您已付款，請忽略此郵件。',
    },
    payment_request: { subject: '{seller}：請支付 {amount}', intro: '以下來自 {seller} 的帳單已逾期：', closing: '' },
    payment_action: { subject: '{seller}：請確認您的付款', intro: '這筆付款正等待您處理。', closing: '' },
    payment_failed: {
      subject: '{seller}：{amount} 的扣款失敗',
      intro: '帳單 {number} 無法扣款，您可以用其他方式付款。',
      closing: '',
    },
    portal_link: {
      subject: '您在 {seller} 的頁面連結',
      intro: '這是查看發票、用量與付款方式的新連結。',
      closing: '若非您本人要求，無須理會。',
    },
    details_changed: {
      subject: '您在 {seller} 的帳單資料已變更',
      intro: '您的發票電子郵件地址已在頁面上變更，發票不再寄至此地址。',
      closing: '若非您本人操作，請回覆此郵件。',
    },
  },
  settled: '{seller} 帳單 {number}',
  firm: { subject: '仍未付款：{seller} 的 {amount}', intro: '我們已提醒過您，但以下帳單仍未付清，請立即付款。' },
  final: {
    subject: '最後提醒：{seller} 的 {amount} 已逾期',
    intro: '這是以下逾期帳單的最後一次提醒。請儘速付款，或與我們聯絡。',
  },
  overdueBy: '逾期 {days}',
  pages: '檢視您的帳單與用量',
  worksFor: '連結有效 {hours} 小時。',
  openPages: '開啟我的頁面',
  keepLink: '連結有效 {hours} 小時。持有者即可開啟您的頁面，請勿轉寄。',
};
