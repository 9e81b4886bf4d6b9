;; Secrets belong to the host: a program, its output and its errors are read by many.

; id: secret-aws-key
; severity: block
; languages: python
; needs: AKIA ASIA
; text: masked
; message: this looks like an access key of AWS
; advice: leave it out of the program; ask the host for a tool or a rule that uses the secret
((string_content) @finding
  (#min-length? @finding "20")
  (#match? @finding "(^|[^A-Za-z0-9])(AKIA|ASIA)[A-Z0-9]{16}($|[^A-Za-z0-9])"))

; id: secret-private-key
; severity: block
; languages: python
; needs: PRIVATE
; text: masked
; message: this looks like a private key
; advice: leave it out of the program; ask the host for a tool that signs or decrypts
((string_content) @finding
  (#min-length? @finding "25")
  (#match? @finding "-----BEGIN ([A-Z]+ )*PRIVATE KEY"))

; id: secret-token
; severity: block
; languages: python
; needs: ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xoxa- xoxb- xoxp- xoxr- xoxs- sk- sk_live_ AIza earer eyJ
; text: masked
; message: this looks like a token that gives access to a service
; advice: leave it out of the program; ask the host for a tool or a rule that uses the secret
((string_content) @finding
  (#min-length? @finding "20")
  (#match? @finding "(^|[^A-Za-z0-9])(gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22}|glpat-[A-Za-z0-9_-]{20}|xox[abprs]-[A-Za-z0-9-]{10}|sk-[A-Za-z0-9_-]{20}|sk_live_[A-Za-z0-9]{16}|AIza[A-Za-z0-9_-]{35})|[Bb]earer +[A-Za-z0-9._~+/-]{20}|eyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\."))

; id: secret-assignment
; severity: warn
; languages: python
; needs: apiKey api_key apikey API_KEY ApiKey APIKEY secret Secret SECRET token Token TOKEN password Password PASSWORD passwd PASSWD accessKey access_key ACCESS_KEY
; text: masked
; message: a name that says secret gets a value that looks like one
; advice: leave it out of the program; ask the host for a tool or a rule that uses the secret
(assignment
  left: (identifier) @name
  right: (string (string_content) @finding)
  (#match? @name "([aA][pP][iI]_?[kK][eE][yY]|[sS][eE][cC][rR][eE][tT]|[tT][oO][kK][eE][nN]|[pP][aA][sS][sS](_?[wW][oO][rR][dD]|[wW][dD])|[aA][cC][cC][eE][sS][sS]_?[kK][eE][yY])")
  (#min-length? @finding "16") (#match? @finding "^[!-~]*[0-9][!-~]*$") (#min-entropy? @finding "33")
  (#not-match? @finding "[yY]our|[eE]xample|[xX]{4}|placeholder|[cC]hange|[dD]ummy|[tT]est|[sS]ample|://|^[a-z_. -]+$"))
(keyword_argument
  name: (identifier) @name
  value: (string (string_content) @finding)
  (#match? @name "([aA][pP][iI]_?[kK][eE][yY]|[sS][eE][cC][rR][eE][tT]|[tT][oO][kK][eE][nN]|[pP][aA][sS][sS](_?[wW][oO][rR][dD]|[wW][dD])|[aA][cC][cC][eE][sS][sS]_?[kK][eE][yY])")
  (#min-length? @finding "16") (#match? @finding "^[!-~]*[0-9][!-~]*$") (#min-entropy? @finding "33")
  (#not-match? @finding "[yY]our|[eE]xample|[xX]{4}|placeholder|[cC]hange|[dD]ummy|[tT]est|[sS]ample|://|^[a-z_. -]+$"))
(pair
  key: (string) @name
  value: (string (string_content) @finding)
  (#match? @name "([aA][pP][iI]_?[kK][eE][yY]|[sS][eE][cC][rR][eE][tT]|[tT][oO][kK][eE][nN]|[pP][aA][sS][sS](_?[wW][oO][rR][dD]|[wW][dD])|[aA][cC][cC][eE][sS][sS]_?[kK][eE][yY])")
  (#min-length? @finding "16") (#match? @finding "^[!-~]*[0-9][!-~]*$") (#min-entropy? @finding "33")
  (#not-match? @finding "[yY]our|[eE]xample|[xX]{4}|placeholder|[cC]hange|[dD]ummy|[tT]est|[sS]ample|://|^[a-z_. -]+$"))
