;; What a cell has not: other programs, sockets, native code, the host's own files.

; id: js-process
; severity: warn
; languages: javascript typescript
; needs: child_process worker_threads 'cluster' "cluster" 'execa' "execa" 'shelljs' "shelljs" 'cross-spawn' "cross-spawn" 'node-pty' "node-pty" 'zx' "zx" node:cluster
; message: a cell cannot start programs or threads, so this module is not there
; advice: ask the host for a tool that does what is needed
(call_expression
  function: [(identifier) @f (import)]
  arguments: (arguments . (string (string_fragment) @module))
  (#eq? @f "require")
  (#match? @module "^(node:)?(child_process|cluster|worker_threads)$")) @finding
(import_statement source: (string (string_fragment) @module)
  (#match? @module "^(node:)?(child_process|cluster|worker_threads)$")) @finding
(import_statement source: (string (string_fragment) @module)
  (#any-of? @module "execa" "shelljs" "cross-spawn" "node-pty" "zx")) @finding
(call_expression
  function: (identifier) @f
  arguments: (arguments . (string (string_fragment) @module))
  (#eq? @f "require")
  (#any-of? @module "execa" "shelljs" "cross-spawn" "node-pty" "zx")) @finding

; id: js-vm
; severity: warn
; languages: javascript typescript
; needs: vm2 isolated-vm node:vm 'vm' "vm"
; message: the module vm runs text as code, and is not there
; advice: write the code itself, or give it to the host as a module of the run
(call_expression
  function: [(identifier) @f (import)]
  arguments: (arguments . (string (string_fragment) @module))
  (#eq? @f "require")
  (#any-of? @module "vm" "node:vm" "vm2" "isolated-vm")) @finding
(import_statement source: (string (string_fragment) @module)
  (#any-of? @module "vm" "node:vm" "vm2" "isolated-vm")) @finding

; id: js-socket
; severity: warn
; languages: javascript typescript
; needs: node:net node:tls node:dgram node:dns node:http 'net' "net" 'tls' "tls" 'dgram' "dgram" 'dns' "dns" 'dns/promises' "dns/promises" 'http' "http" 'https' "https" 'http2' "http2" 'got' "got" 'request' "request" 'ws' "ws" 'express' "express" axios node-fetch undici socket.io puppeteer playwright superagent XMLHttpRequest WebSocket EventSource RTCPeer
; message: a cell has no sockets, so this is not there
; advice: ask the host for a tool that fetches what is needed, or use fetch where the environment allows it
(call_expression
  function: [(identifier) @f (import)]
  arguments: (arguments . (string (string_fragment) @module))
  (#eq? @f "require")
  (#match? @module "^((node:)?(net|tls|dgram|dns|dns/promises|http|https|http2)|axios|got|request|node-fetch|undici|ws|socket.io|express|puppeteer|playwright|superagent)$")) @finding
(import_statement source: (string (string_fragment) @module)
  (#match? @module "^((node:)?(net|tls|dgram|dns|dns/promises|http|https|http2)|axios|got|request|node-fetch|undici|ws|socket.io|express|puppeteer|playwright|superagent)$")) @finding
(new_expression constructor: (identifier) @f (#any-of? @f "XMLHttpRequest" "WebSocket" "EventSource" "RTCPeerConnection")) @finding

; id: js-fetch
; severity: info
; languages: javascript typescript
; message: fetch works only where the environment allows this address
; advice: expect it to be refused, and say in the result what could not be fetched
(call_expression function: (identifier) @f (#eq? @f "fetch")) @finding

; id: js-process-control
; severity: warn
; languages: javascript typescript
; needs: process.kill process.binding process._linkedBinding process.dlopen process.mainModule process.setuid process.setgid process.abort process._getActive
; message: a program has no other processes and nothing of the host's process
; advice: leave it out; process.exit, process.env and process.argv are there
(member_expression
  object: (identifier) @p
  property: (property_identifier) @f
  (#eq? @p "process")
  (#any-of? @f "kill" "binding" "_linkedBinding" "dlopen" "mainModule" "setuid" "setgid" "abort" "_getActiveHandles")) @finding

; id: js-native-code
; severity: warn
; languages: javascript typescript
; needs: WebAssembly .node" .node' ffi-napi bindings
; message: a cell has neither WebAssembly nor native modules
; advice: write it in JavaScript, or ask the host for a tool
(member_expression object: (identifier) @w (#eq? @w "WebAssembly")) @finding
(call_expression
  function: (identifier) @f
  arguments: (arguments . (string (string_fragment) @module))
  (#eq? @f "require")
  (#match? @module "\\.node$|^ffi-napi$|^bindings$")) @finding

; id: js-host-path
; severity: warn
; languages: javascript typescript
; needs: /etc/ /proc/ /sys/ /root/ /var/run/docker .ssh/ .aws/ .kube/
; message: this file is the host's, and is not there
; advice: programs see only their own files beneath /home/vial; ask for what is needed as a file of the run
((string_fragment) @finding
  (#min-length? @finding "6")
  (#match? @finding "^(/etc/(passwd|shadow|sudoers)|/proc/|/sys/|/root/|/var/run/docker)|\\.ssh/|\\.aws/credentials|\\.kube/config"))

; id: js-metadata-address
; severity: warn
; languages: javascript typescript
; needs: 169.254.169.254 metadata.google fd00:ec2
; message: this is the address of a cloud's metadata, which gives out credentials
; advice: leave it out; it is refused whatever the environment allows
([(string_fragment) (template_string)] @finding
  (#min-length? @finding "15")
  (#match? @finding "169\\.254\\.169\\.254|metadata\\.google\\.internal|fd00:ec2::254"))
