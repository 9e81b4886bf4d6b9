/* net_rules.h - what programs may ask of the network, as rules, and what these say to a request.
 *
 * A policy is a list of rules. The last rule that matches a request decides; without one it is
 * denied, so an empty list allows nothing. Whatever the rules say, a request only ever goes to a
 * public address, unless the rule that allows it names that very address.
 *
 * A rule that allows says what it does not mention narrowly: https, and the scheme's own port. A
 * rule that denies says it widely: any scheme and any port. */
#ifndef VIAL_POLICY_NET_RULES_H
#define VIAL_POLICY_NET_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "policy/net_url.h"

enum {
    NET_RULES_MAX = 256,    /* each is looked at for each request; people write a dozen */
    NET_ADDRESSES_MAX = 64, /* of one rule */
    NET_RULE_NAME_BYTES_MAX = 128,
    NET_FIELD_BYTES_MAX = 128, /* the header or the key of a query that a secret goes into */
};

/* The methods that there are; others are refused before any rule is asked. */
enum net_method {
    NET_GET,
    NET_HEAD,
    NET_POST,
    NET_PUT,
    NET_PATCH,
    NET_DELETE,
    NET_OPTIONS,
    NET_METHODS_COUNT,
    NET_METHOD_NONE = -1,
};

/* By their names, exactly; NET_METHOD_NONE for all others. */
int net_method(const char *name, size_t len);
const char *net_method_name(int method);

enum net_effect { NET_DENY = 0, NET_ALLOW = 1 };

enum net_host_match {
    NET_ANY_HOST,    /* "*" */
    NET_EXACT_HOST,  /* "api.example.com", "[2606::1]" */
    NET_SUFFIX_HOST, /* "*.example.com": what is beneath it, not the name itself */
};

enum net_inject_kind {
    NET_INJECT_NOTHING = 0,
    NET_INJECT_HEADER,
    NET_INJECT_BEARER, /* Authorization: Bearer ... */
    NET_INJECT_QUERY,
};

enum { NET_ANY = -1 };

/* Everything it points to is its own. */
struct net_rule {
    int effect;                    /* enum net_effect */
    char *name;                    /* never NULL */
    int scheme;                    /* enum net_scheme, or NET_ANY */
    int host_match;                /* enum net_host_match */
    char *host;                    /* in lower case; of a suffix with its dot: ".example.com" */
    int port;                      /* NET_ANY, or 0: the scheme's own */
    char *path;                    /* a prefix that ends where a segment ends; NULL: any */
    uint32_t methods;              /* bits by enum net_method */
    struct net_address *addresses; /* that may be reached though they are not public */
    size_t addresses_count;
    int inject;         /* enum net_inject_kind */
    char *inject_field; /* the name of the header or the key of the query */
    char *secret;       /* its name */
};

struct net_policy {
    struct net_rule *rules;
    size_t count;
};

/* document_net.c: reads rules from JSON, as permissions.net of an environment has them.
 * VIAL_E_INVALID with the first fault. */
VIAL_NODISCARD int net_policy_parse(
    const char *json, size_t len, struct net_policy *ret, struct vial_error *err);
void net_policy_release(struct net_policy *policy);

/* Why a request is not made. */
enum net_code {
    NET_OK = 0,
    NET_BAD_URL,     /* it is no URL that can be judged */
    NET_BAD_ADDRESS, /* it leads to an address that is not public */
    NET_NO_RULE,     /* no rule allows it */
    NET_BY_RULE,     /* a rule denies it */
};

/* The word for a code that programs and results get: "url", "address", "rule". */
const char *net_code_name(int code);

struct net_verdict {
    int code;                    /* enum net_code */
    const struct net_rule *rule; /* that decided; NULL: none did */
    const char *why;             /* of NET_BAD_ADDRESS: what the address is */
    const char *whose;           /* of a chain: whose rules refused; NULL: none did */
};

/* What the rules say to a request, before anybody has asked for the addresses of its host. */
struct net_verdict net_policy_judge(
    const struct net_policy *policy, const struct net_url *url, int method);

/* Several policies, all of which must allow a request. The first one gives: its rules say which
 * addresses that are not public may be reached, and have the secrets. The others only take away. */
enum { NET_CHAIN_MAX = 4 };

struct net_chain {
    const struct net_policy *policies[NET_CHAIN_MAX]; /* borrowed */
    const char *whose[NET_CHAIN_MAX];                 /* "environment", "session", "run" */
    size_t count;                                     /* 0: there is no network */
};

/* What they say together: the rule of the first one, or the one that refused. */
struct net_verdict net_chain_judge(
    const struct net_chain *chain, const struct net_url *url, int method);

/* What one of them says for itself. */
struct net_verdict net_chain_judge_one(
    const struct net_chain *chain, size_t index, const struct net_url *url, int method);

/* May a request that this rule allows go to the address? NULL, or what the address is. */
const char *net_rule_judge_address(const struct net_rule *rule, const struct net_address *address);

/* Fills match into a rule: a text as "api.example.com", "*.example.com", "*" or an address. 0, or
 * -1 with the rest of a sentence about the host. */
int net_rule_set_host(struct net_rule *rule, const char *host, const char **why);

/* Likewise the prefix of the path. */
int net_rule_set_path(struct net_rule *rule, const char *path, const char **why);

/* May a program send this header? It is a name and a value that are well formed, and not one of
 * those that are about the connection. NULL, or the rest of a sentence about the header. */
const char *net_header_fault(const char *name, size_t name_len, const char *value, size_t len);

#endif
