/* tokens.c - what clients of a server send to name things: keys, ids, scopes, quotas, heads. What
 * is taken has one form, and is that form. */
#include "base/id.h"
#include "fuzz.h"
#include "policy/quota.h"
#include "store/audit.h"
#include "store/key.h"

static void check_token(const char *text, size_t size)
{
    char id[KEY_ID_BYTES + 1];
    size_t i;

    if (key_token_id(text, size, id) < 0) {
        return;
    }
    FUZZ_CHECK(
        size == KEY_TOKEN_BYTES && memcmp(text, "vial_", 5) == 0, "a key of %zu bytes", size);
    FUZZ_CHECK(strlen(id) == KEY_ID_BYTES && memcmp(text + 5, id, KEY_ID_BYTES) == 0, "its id");
    for (i = 5; i < size; i++) {
        FUZZ_CHECK(strchr("0123456789abcdefghjkmnpqrstvwxyz_", text[i]) != NULL && text[i] != '\0',
            "the character %d in a key", text[i]);
    }
}

static void check_id(const char *text, size_t size)
{
    char copy[ID_BYTES_MAX + 1], first[ID_BYTES_MAX + 1];

    if (!id_is_valid("run_", text, size)) {
        return;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    FUZZ_CHECK(id_time_ms("run_", copy) < UINT64_C(1) << 48, "its time");
    id_first("run_", id_time_ms("run_", copy) * 1000, first);
    FUZZ_CHECK(strcmp(first, copy) <= 0 && memcmp(first, copy, 14) == 0, "it sorts elsewhere");
}

static void check_head(const char *text, size_t size)
{
    char again[AUDIT_HEAD_TEXT_BYTES];
    struct audit_head head;
    size_t i;

    if (audit_head_parse(text, size, &head) < 0) {
        return;
    }
    audit_head_text(&head, again);
    FUZZ_CHECK(strlen(again) == size, "a head of another length");
    for (i = 0; i < size; i++) { /* the hash may be in upper case */
        FUZZ_CHECK((text[i] | 0x20) == (again[i] | 0x20), "another head");
    }
}

static void check_words(const char *text, size_t size)
{
    char *copy = malloc(size + 1), again[QUOTA_TEXT_BYTES_MAX];
    char scopes_text[KEY_SCOPES_TEXT_BYTES_MAX];
    struct quota quota = QUOTA_DEFAULT, other = {0, 0, 0, 0};
    uint32_t scopes = 0, scopes_again = 0;

    FUZZ_CHECK(copy != NULL, "no memory");
    memcpy(copy, text, size);
    copy[size] = '\0';
    if (quota_parse(copy, &quota, NULL) == VIAL_OK) {
        quota_text(&quota, again);
        FUZZ_CHECK(quota_parse(again, &other, NULL) == VIAL_OK, "%s", again);
        FUZZ_CHECK(memcmp(&quota, &other, sizeof(quota)) == 0, "another quota: %s", again);
        FUZZ_CHECK(quota.concurrent <= QUOTA_CONCURRENT_MAX &&
                       quota.sessions <= QUOTA_SESSIONS_MAX &&
                       quota.runs_per_minute <= QUOTA_RUNS_PER_MINUTE_MAX &&
                       quota.cpu_seconds_per_day <= QUOTA_CPU_SECONDS_PER_DAY_MAX,
            "beyond the largest: %s", again);
    }
    if (key_scopes_parse(copy, &scopes, NULL) == VIAL_OK) {
        key_scopes_text(scopes, scopes_text);
        FUZZ_CHECK(key_scopes_parse(scopes_text, &scopes_again, NULL) == VIAL_OK &&
                       scopes == scopes_again && scopes != 0,
            "other scopes: %s", scopes_text);
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;

    check_token(text, size);
    check_id(text, size);
    check_head(text, size);
    check_words(text, size);
    return 0;
}
