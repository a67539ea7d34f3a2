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
    wallet_low: { subject: '{seller}：{wallet} 尚餘 {amount}', intro: '您的預付餘額即將用完。', closing: '' },
    top_up_failed: {
      subject: '{seller}：{amount} 的儲值失敗',
      intro: '無法收取您的儲值款項，因此未增加點數。請檢查您的付款方式，或以其他方式付款。',
      closing: '',
    },
    trial_ending: {
      subject: '您在 {seller} 的試用將於 {due_date} 結束',
      intro: '您的試用即將結束，之後將轉為付費訂閱，您無須採取任何動作。',
      closing: '若您不想繼續，請在此之前與我們聯絡。',
    },
    subscription_ending: {
      subject: '您在 {seller} 的訂閱將於 {due_date} 結束',
      intro: '您的訂閱即將結束，在此之前一切照舊。',
      closing: '若您想繼續使用，請與我們聯絡。',
    },
    usage_alert: {
      subject: '{seller}：{subscription} 的用量已達 {limit}',
      intro: '您的用量已達到您要求通知的上限。',
      closing: '',
    },
    endpoint_disabled: {
      subject: '{seller} 的一個 Webhook 端點已停用',
      intro: '系統不再傳送任何內容至此端點；在重新啟用之前，也不會為它保存新的事件。',
      closing: '',
    },
    key_created: {
      subject: '{seller} 的新 API 金鑰',
      intro: '已建立一個 API 金鑰。持有者可執行其權限允許的所有操作。',
      closing: '若您不知情，請刪除此金鑰。',
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
  notices: {
    lasts: '約可再用 {days}',
    trialEnds: '{name} 的試用結束日',
    subscriptionEnds: '訂閱 {name} 的結束日',
    limit: '上限',
    endpoint: '端點',
    reason: '原因',
    reasons: { failing: '五天來所有傳送皆失敗', gone: '它回應已不存在 (410)' },
    openWebhooks: '開啟 Webhook',
    name: '名稱',
    lastFour: '結尾為',
    createdOn: '建立於',
    openKeys: '開啟 API 金鑰',
  },
};
